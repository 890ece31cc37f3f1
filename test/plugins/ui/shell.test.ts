import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { GuardError, type Plugin } from 'guard-gateway/core'
import { type Started, startGateway } from 'guard-gateway/test'
import { html } from '#lib/html'
import { type FieldFault, formKind, pageKind } from '#lib/page'

const faults: readonly FieldFault[] = [{ field: 'name', message: 'A name is needed.' }]

/** A feature with a page, and a form on it. */
const notes: Plugin = {
  name: 'notes',
  apply(gateway) {
    gateway.registry(pageKind).add({
      id: 'notes',
      path: '/notes/:id',
      nav: { label: 'Notes', order: 90, key: 'n', count: () => 3 },
      render: async ({ params, query, refused }) => {
        if (params.id === 'absent') throw new GuardError('NOT_FOUND')
        return {
          title: `Note ${params.id}`,
          main: html`<h1>${params.id}</h1><p>${query.get('q')}</p><p>${refused?.fields.get('name')}${refused?.faults.map(({ message }) => message)}</p>`,
        }
      },
    })
    gateway.registry(formKind).add({
      id: 'notes/rename',
      path: '/ui/notes/:id/rename',
      page: '/notes/:id',
      notices: { renamed: 'Note renamed.' },
      submit: async ({ fields }) => {
        const name = fields.get('name') ?? ''
        if (name === 'throws') throw new GuardError('INVALID_REQUEST', 'That name is taken.', { path: '/name' })
        return name === '' ? { faults } : { notice: 'renamed', at: 'note-1' }
      },
    })
  },
}

let started: Started
before(async () => {
  started = await startGateway({ plugins: [notes] })
})
after(() => started.close())

const page = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(started.url + path, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' })

const send = (path: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
  fetch(started.url + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { accept: 'text/html', ...headers },
    redirect: 'manual',
  })

test('a plugin adds a page and a navigation entry with a count', async () => {
  const answer = await page('/notes/a%3Cb?q=%22x%22')
  const text = await answer.text()
  assert.equal(answer.status, 200)
  assert.match(text, /<title>\(3\) Note a&lt;b · Guard<\/title>/)
  assert.match(text, /<h1>a&lt;b<\/h1><p>&quot;x&quot;<\/p>/)
  assert.match(text, /data-key="n">Notes <span class="count">3<\/span>/)
})

test('a trailing slash redirects, with the query', async () => {
  for (const [path, location] of [
    ['/sessions/', '/sessions'],
    ['/mcp/?a=b/', '/mcp?a=b/'],
    ['/notes/a%2F/?q=1', '/notes/a%2F?q=1'],
  ] as const) {
    const answer = await page(path)
    assert.deepEqual([answer.status, answer.headers.get('location')], [308, location])
  }
  assert.equal((await page('//example.org/')).status, 404)
})

test('a document loads only local files, and has no inline script', async () => {
  const answer = await page('/notes/a')
  const policy = answer.headers.get('content-security-policy') ?? ''
  for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.includes(rule), rule)
  assert.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.doesNotMatch(await answer.text(), /<style|style=|<script>|\son\w+=/)
})

test('assets have hashed addresses and a cache lifetime of a year', async () => {
  const text = await (await page('/notes/a')).text()
  const [, url = ''] = /href="(\/ui\/assets\/[0-9a-f]{12}\/app\.css)"/.exec(text) ?? []
  const answer = await fetch(started.url + url)
  assert.equal(answer.headers.get('content-type'), 'text/css; charset=utf-8')
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  const script = await fetch(started.url + url.replace('app.css', 'idiomorph.js'))
  assert.match(await script.text(), /Idiomorph/)
})

test('a successful form redirects with a notice', async () => {
  const answer = await send('/ui/notes/a/rename', { name: 'b', return_to: '/notes/a?q=1&notice=old' })
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.get('location'), '/notes/a?q=1&notice=renamed')
  const text = await (await page('/notes/a?notice=renamed')).text()
  assert.match(text, /<p class="notice" role="status">Note renamed\.<\/p>/)
  assert.doesNotMatch(await (await page('/notes/a?notice=free+text')).text(), /free text|class="notice"/)
})

test('a form in a list redirects to its row', async () => {
  const { headers } = await send('/ui/notes/a/rename', { name: 'b', return_to: '/notes?q=1' })
  assert.equal(headers.get('location'), '/notes?q=1&notice=renamed#note-1')
  const own = await send('/ui/notes/a/rename', { name: 'b', return_to: '/notes/a' })
  assert.equal(own.headers.get('location'), '/notes/a?notice=renamed')
})

test('the address of a rejected form shows its page on GET', async () => {
  const answer = await page('/ui/notes/a%3Fb/rename')
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.get('location'), '/notes/a%3Fb')
})

test('a form never redirects to another host', async () => {
  for (const return_to of [
    '//evil.example/',
    '/\\evil.example',
    'https://evil.example',
    '/\t/evil',
    '/a\r\nset-cookie: b',
    '/notes/\u00e9\u65e5',
  ]) {
    const answer = await send('/ui/notes/a/rename', { name: 'b', return_to })
    assert.equal(answer.headers.get('location'), '/notes/a?notice=renamed')
  }
})

test('a rejected form shows the typed values and the errors', async () => {
  const empty = await send('/ui/notes/a/rename', { name: '' })
  assert.equal(empty.status, 422)
  assert.match(await empty.text(), /A name is needed\./)
  const thrown = await send('/ui/notes/a/rename', { name: 'throws' })
  assert.equal(thrown.status, 422)
  assert.match(await thrown.text(), /<p>throwsThat name is taken\.<\/p>/)
})

test('a form of another site or of another type is rejected', async () => {
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'same-site' }])
    assert.equal((await send('/ui/notes/a/rename', { name: 'b' }, headers)).status, 403)
  const json = await fetch(`${started.url}/ui/notes/a/rename`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(json.status, 415)
})

test('a missing page has an error page with links, and JSON for programs', async () => {
  for (const path of ['/nowhere', '/notes/absent']) {
    const answer = await page(`${path}?q=<script>`)
    const text = await answer.text()
    assert.equal(answer.status, 404)
    assert.match(text, /<h1>Not found<\/h1>/)
    assert.match(text, /q=(?:%3C|&lt;)script/)
    assert.match(text, new RegExp(answer.headers.get('x-guard-request-id') ?? 'none'))
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  }
  const answer = await fetch(`${started.url}/nowhere`)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
})

test('styles and scripts stay small', async () => {
  const folder = join(import.meta.dirname, '../../../plugins/ui/assets')
  const bytes = { css: 0, js: 0, request: 0 }
  for (const name of await readdir(folder)) {
    const kind = assetKind(name)
    if (kind !== undefined) bytes[kind] += (await stat(join(folder, name))).size
  }
  for (const [kind, kilobytes] of Object.entries({ css: 24, js: 48, request: 15 })) {
    const size = bytes[kind as keyof typeof bytes]
    assert.ok(size > 0 && size <= kilobytes * 1024, `${size} bytes of ${kind}`)
  }
})

/** API pages alone load the scripts of requests. */
const assetKind = (name: string) => {
  if (name.endsWith('.css')) return 'css'
  if (name.endsWith('.js')) return name.startsWith('request') ? 'request' : 'js'
  return undefined
}
