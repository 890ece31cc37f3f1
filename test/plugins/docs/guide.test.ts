import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { documents } from '../../../plugins/docs/guide/documents.ts'
import { GuideReader, textOf } from './guide-reader.ts'

const root = join(import.meta.dirname, '../../..')

let guide: GuideReader
before(async () => {
  guide = await GuideReader.start()
})
after(() => guide.close())

const page = (path: string, status?: number): Promise<string> => guide.page(path, status)

const slugs = (text: string): readonly string[] =>
  [...text.matchAll(/<li data-row id="page-([^"]+)"/g)].map(([, slug = '']) => slug)

describe('/docs/guide', () => {
  it('lists every document that users read, each with a page of its own', async () => {
    const found = globSync('{*.md,{core,plugins,bench,examples}/**/*.md}', { cwd: root }).map((file) =>
      file.replaceAll('\\', '/'),
    )
    // for those who change the gateway itself
    const own = ['CONTRIBUTING.md']
    assert.deepEqual(documents.map(({ file }) => file).sort(), found.filter((file) => !own.includes(file)).sort())
    assert.equal(new Set(documents.map(({ slug }) => slug)).size, documents.length)
    const listed = slugs(await page('/docs/guide'))
    assert.deepEqual(
      documents.map(({ slug }) => slug).filter((slug) => !listed.includes(slug)),
      [],
    )
    for (const slug of listed) {
      const text = await page(`/docs/guide/${slug}`)
      assert.equal(text.match(/<h1/g)?.length, 1, slug)
      assert.doesNotMatch(text, /<style|<script>|<[^>]*\s(?:style|on\w+)=|\ssrc="https?:|<h\d id="h-">/, slug)
      const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)
      assert.equal(new Set(ids).size, ids.length, `${slug} has an id twice`)
      const [, article = ''] = text.split(/<\/?article[^>]*>/)
      for (const [, href = ''] of article.matchAll(/href="([^"]*)"/g)) assert.match(href, /^(?:https?:\/\/|#|\/)/, slug)
    }
  })

  it('has its documents in the package', () => {
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly files: readonly string[]
    }
    for (const { file } of documents)
      assert.ok(
        // npm always packs the README
        file === 'README.md' ||
          files.some((pattern) => file === pattern || file.startsWith(`${pattern}/`) || matchesGlob(file, pattern)),
        `${file} is not in files of package.json`,
      )
  })

  it('leads from page to page, to headings that are there', async () => {
    const pages = new Map<string, string>()
    for (const slug of slugs(await page('/docs/guide'))) pages.set(slug, await page(`/docs/guide/${slug}`))
    for (const [slug, text] of pages)
      for (const [, target = '', anchor] of text.matchAll(/href="\/docs\/guide\/([\w-]+)(?:#([^"]+))?"/g)) {
        const found = pages.get(target)
        assert.ok(found !== undefined, `${slug} leads to ${target}`)
        if (anchor !== undefined) assert.ok(found.includes(` id="${anchor}"`), `${slug} leads to ${target}#${anchor}`)
      }
  })

  it('serves nothing but its list', async () => {
    for (const path of ['..%2f..%2fpackage.json', 'guard-config.yml', 'README.md', 'plugins%2fREADME.md', '__proto__'])
      await page(`/docs/guide/${path}`, 404)
    assert.match(textOf(await page('/docs/guide/%3Cb%3E', 404)), /No page of the guide is called "<b>"/)
  })

  it('finds titles, headings and text, and shows what is around', async () => {
    const text = await page('/docs/guide?q=budget+days')
    assert.match(text, /href="\/docs\/guide\/policy-budgets#[^"]+">[\s\S]*<mark>[bB]udget/)
    assert.match(await page('/docs/guide?q=aprovals'), /<mark>[aA]pproval/)
    assert.match(textOf(await page('/docs/guide?q=%3Cscript%3Ezzzq')), /No page has all of these words: <script>zzzq/)
    const long = 'x'.repeat(5_000)
    assert.doesNotMatch(await page(`/docs/guide?q=${long}`), /x{201}/)
  })

  it('is found from the API and from the search in the bar', async () => {
    assert.match(
      await page('/docs?q=steer'),
      /aria-label="In the guide"[\s\S]*\/docs\/guide\/[\w-]+#[\s\S]*\/docs\/guide\?q=steer/,
    )
    for (const [words, location] of [
      ['LOOP_TOOL_CALL', '/docs/guide/error-codes#h-loop_tool_call'],
      ['guard mcp validate-policy', '/docs/guide/commands#h-guard-mcp-validate-policy'],
      ['writing a detector', '/docs/guide/detectors'],
    ] as const) {
      const answer = await fetch(`${guide.url}/search?q=${encodeURIComponent(words)}`, {
        redirect: 'manual',
        headers: { accept: 'text/html' },
      })
      assert.equal(answer.headers.get('location'), location)
    }
    assert.match(await page('/search?q=nothing+like+it'), /\/docs\/guide\?q=nothing%20like%20it/)
  })
})
