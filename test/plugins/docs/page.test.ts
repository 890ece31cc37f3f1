import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Plugin } from 'guard-gateway/core'
import { constraintText, rowsOf, typeText } from '../../../plugins/docs/describe.ts'
import type { Description, Schema } from '../../../plugins/docs/page/description.ts'
import { type Started, startGateway } from '../../kit.ts'

/** Adds a route in a group of its own. */
const grouped: Plugin = {
  name: 'grouped',
  apply(gateway) {
    gateway.hooks.http.tap('grouped', (app) => {
      app.get('/api/own', { schema: { summary: 'Own', tags: ['a group of its own'] } as object }, async () => ({}))
    })
  },
}

let started: Started
let description: Description
before(async () => {
  started = await startGateway({ plugins: [grouped] })
  description = (await started.request('GET', '/openapi.json')).json as Description
})
after(() => started.close())

const page = async (path: string, status = 200): Promise<string> => {
  const answer = await fetch(started.url + path, { headers: { accept: 'text/html' } })
  assert.equal(answer.status, status, path)
  assert.equal(
    answer.headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
  const text = await answer.text()
  assert.doesNotMatch(text, /<style|<script>|\sstyle=|\son\w+=|(?:src|href)="https?:/)
  return text
}

const textOf = (markup: string): string => markup.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

describe('/docs', () => {
  it('lists every operation of /openapi.json by group, with valid links', async () => {
    const text = await page('/docs')
    const wanted = Object.entries(description.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const rows = [
      ...text.matchAll(/<tr id="([^"]+)" data-row><td><code>(\w+)<\/code>.*?href="([^"]+)"><code>([^<]+)</g),
    ]
    assert.deepEqual(rows.map(([, , method, , path]) => `${method} ${path}`).sort(), wanted.sort())
    assert.equal(new Set(rows.map(([, id]) => id)).size, rows.length)
    for (const { name } of [...description.tags, { name: 'a group of its own' }])
      assert.match(text, new RegExp(`<h2 id="[\\w-]+">${name}</h2>`))
    for (const [, , method, href = '', path = ''] of rows) {
      const shown = await page(href)
      assert.ok(Buffer.byteLength(shown) <= 150 * 1024, `${href} has ${Buffer.byteLength(shown)} bytes`)
      assert.ok(shown.includes(`<h1><code>${method} ${path}</code></h1>`), href)
    }
  })

  it('searches path and purpose', async () => {
    const rows = (text: string) => [...text.matchAll(/<tr id="([^"]+)" data-row/g)].map(([, id]) => id)
    assert.deepEqual(rows(await page('/docs?q=resume+agent')), ['post-api-agents-id-resume'])
    assert.match(await page('/docs?q=%3Cnothing%3E'), /value="&lt;nothing&gt;"[\s\S]*No operation matches/)
  })

  it('shows request, responses and example command of an operation', async () => {
    const text = await page('/docs/post-v1-messages')
    const told = textOf(text)
    assert.match(told, /Requires a key/)
    assert.match(told, /x-guard-mode header &quot;shadow&quot; \| &quot;enforce&quot; shadow enforce Heard only with/)
    assert.match(told, /messages string \| object\[\] required The conversation/)
    assert.match(told, /curl -X POST &quot;http:\/\/127\.0\.0\.1:\d+\/v1\/messages&quot; .*small-model/)
    assert.match(told, /429 .*Default Error/)
    const runs = textOf(await page('/docs/get-api-v1-runs-trace_id'))
    assert.match(runs, /trace_id string required/)
    assert.match(runs, /spans\[\]\.events\[\]\.name string/)
    assert.match(
      textOf(await page('/docs/post-api-v1-compare')),
      /left string required .* or .*trace_ids string\[\] required The two runs, left first\. 2 items/,
    )
  })

  it('has no page for an unknown operation', async () => {
    assert.match(await page('/docs/get-nowhere', 404), /No operation is called &quot;get-nowhere&quot;/)
  })

  it('is in the navigation, and rejects other hosts', async () => {
    assert.match(await page('/docs'), /<a href="\/docs" data-key="d" aria-current="page">Docs<\/a>/)
    for (const path of ['/docs', '/docs/get-metrics', '/openapi.json']) {
      const { status } = await started.request('GET', path, undefined, { origin: 'https://evil.example' })
      assert.equal(status, 403, path)
    }
  })
})

describe('a schema', () => {
  const words: readonly (readonly [Schema, string, string])[] = [
    [{ type: 'integer', minimum: 0 }, 'integer', 'at least 0'],
    [
      { anyOf: [{ type: 'string', minLength: 1, maxLength: 9 }, { type: 'null' }] },
      'string | null',
      '1 to 9 characters',
    ],
    [{ anyOf: [{ const: 'a' }, { const: 'b' }] }, '"a" | "b"', ''],
    [{ enum: ['x'], default: 'x' }, '"x"', '"x" if absent'],
    [
      { type: 'array', maxItems: 3, items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
      '(string | number)[]',
      'at most 3 items',
    ],
    [{ type: 'string', format: 'binary' }, 'bytes', ''],
    [{ type: ['string', 'null'], pattern: '^a$' }, 'string | null', '^a$'],
    [{}, 'any', ''],
  ]
  for (const [schema, type, limits] of words)
    it(`${JSON.stringify(schema)} reads ${type}`, () => {
      assert.equal(typeText(schema), type)
      assert.equal(constraintText(schema), limits)
    })

  it('lists nested members once', () => {
    const inner: Schema = { type: 'object', required: ['b'], properties: { b: { type: 'string' } } }
    const schema: Schema = {
      allOf: [{ properties: { z: {} } }],
      properties: { a: { anyOf: [{ items: inner }, inner] }, any: { additionalProperties: { type: 'number' } } },
    }
    assert.deepEqual(
      rowsOf(schema).map(({ name, required }) => [name, required]),
      [
        ['a', false],
        ['a[].b', true],
        ['a.b', true],
        ['any', false],
        ['any.*', false],
        ['z', false],
      ],
    )
    assert.deepEqual(
      rowsOf({ type: 'string' }).map(({ name }) => name),
      [''],
    )
  })
})
