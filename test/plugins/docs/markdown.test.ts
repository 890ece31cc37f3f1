import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { guidePageKind } from '#lib/page'
import { readLibrary } from '../../../plugins/docs/guide/library.ts'
import { render } from '../../../plugins/docs/guide/markdown.ts'
import { indexOf } from '../../../plugins/docs/guide/search.ts'
import { startGateway } from '../../kit.ts'

const shown = (text: string, addressOf: (href: string) => string | undefined = () => undefined): string =>
  String(render(text, addressOf).main)

describe('Markdown of the guide', () => {
  it('shows HTML as text, but for a picture, which is left out', () => {
    const text = shown(
      '# T\n\n<script>alert(1)</script>\n\nSee <b onclick="x()">this</b>.\n\n<picture>\n<img src="a">\n</picture>\n',
    )
    assert.doesNotMatch(text, /<(?:script|b|img|picture)/)
    assert.match(text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/)
    assert.match(shown('<picture></picture><script>x</script>'), /&lt;script/)
  })
  it('escapes code, cells and headings', () => {
    const text = shown('# `<i>`\n\n```sh\necho "<u>"\n```\n\n| `<s>` | <q> |\n|---|---|\n| `a<b>` | ![<em>](x) |\n')
    assert.doesNotMatch(text, /<(?:i|u|s|q|b|em|img)>/)
    assert.match(text, /<pre><code>echo &quot;&lt;u&gt;&quot;/)
  })
  it('links where it is told to, else shows the words', async () => {
    assert.equal(
      shown('[a](b.md)', () => '/docs/guide/b'),
      '<p><a href="/docs/guide/b">a</a></p>\n',
    )
    const hostile = [
      'javascript:alert(1)',
      'data:text/html,x',
      '//evil.example/x',
      'file:///etc/passwd',
      '../../secret',
    ]
    const text = hostile.map((href, index) => `[words ${index}](${href})`).join(' and ')
    const pages = await readLibrary([{ id: 'mine', title: 'Mine <1>', text: () => text }], '/docs/guide', assert.fail)
    const mine = pages.find(({ slug }) => slug === 'mine')
    assert.equal(mine?.title, 'Mine <1>')
    assert.match(String(mine?.main), /Mine &lt;1&gt;/)
    assert.doesNotMatch(String(mine?.main), /href/)
    assert.match(String(mine?.main), /words 0 and words 1/)
  })
  it('numbers equal headings, and lets long code break', () => {
    const { sections, main } = render('# A\n\n## B\n\none\n\n## B\n\ntwo\n', () => undefined)
    assert.deepEqual(
      sections.map(({ id, text }) => `${id} ${text.trim()}`),
      ['h-a ', 'h-b one', 'h-b-1 two'],
    )
    assert.match(String(main), /<h2 id="h-b-1">/)
    assert.match(shown('`https://provider.example/v1/models`'), /provider\.<wbr>example\/<wbr>v1/)
  })
  it('has a page that a plugin adds, found by its words', async () => {
    await using service = await startGateway({
      plugins: [
        {
          name: 'runbook',
          apply: (gateway) =>
            gateway
              .registry(guidePageKind)
              .add({ id: 'runbook', title: 'Runbook', text: () => 'Call the **quokka** desk.' }),
        },
      ],
    }).then((started) => Object.assign(started, { [Symbol.asyncDispose]: () => started.close() }))
    const page = await service.request('GET', '/docs/guide/runbook', undefined, { accept: 'text/html' })
    assert.match(page.text, /<strong>quokka<\/strong>/)
    const found = await service.request('GET', '/docs/guide?q=quokka', undefined, { accept: 'text/html' })
    assert.match(found.text, /href="\/docs\/guide\/runbook#h-runbook">Runbook<\/a>[\s\S]*<mark>quokka/)
  })
  it('is whole without a page that throws, which is reported', async () => {
    const faults: string[] = []
    const broken = {
      id: 'broken',
      title: 'Broken',
      text: () => {
        throw new Error('no')
      },
    }
    const made = [broken, { id: 'mine', title: 'Mine', text: () => 'x' }]
    const pages = await readLibrary(made, '/docs/guide', (error, where) => void faults.push(`${where} ${error}`))
    assert.deepEqual(faults, ['guide:broken Error: no'])
    assert.deepEqual(
      pages.map(({ slug }) => slug).filter((slug) => made.some(({ id }) => id === slug)),
      ['mine'],
    )
    assert.ok(pages.length > made.length)
  })
})

describe('the search of the guide', () => {
  it('looks for twelve words of a query, each once, and takes a single letter as it is', async () => {
    const words = 'one two three four five six seven eight nine ten eleven twelve b'
    const { main, title, sections } = render(`# Page\n\n${words} budget\n`, () => undefined)
    const search = await indexOf([{ slug: 'page', group: 'Start', main, title, sections }])
    const found = (query: string) => search(query, 10).length
    assert.equal(found('budg'), 1)
    assert.equal(found('absent one'), 0)
    assert.equal(found(`${words.replace(' b', '')} absent`), 1)
    assert.equal(found(`${'one '.repeat(20)}absent`), 0)
    assert.deepEqual(
      search('b', 10).map((one) => one.words),
      [['b']],
    )
  })
})
