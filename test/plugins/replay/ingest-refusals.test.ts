import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Bench, expecting, refused, startReplay } from './kit.ts'

const T0 = 1_780_000_000_000_000_001n
const SECRET = `sk-ant-api03-${'aB3'.repeat(31)}AA`
const at = (ns: number): string => String(T0 + BigInt(ns))

describe('POST /api/v1/traces', () => {
  let bench: Bench
  before(async () => {
    bench = await startReplay()
  })
  after(() => bench.close())
  const post = (body: unknown, headers?: Record<string, string>) => bench.send('POST', '/api/v1/traces', body, headers)

  describe('rejects with a code and a pointer', () => {
    const cases: readonly (readonly [what: string, body: unknown, code: string, path: string | undefined])[] = [
      ['a body that is no object', [], 'INVALID_TRACE', ''],
      ['an exported trace', { schema: 'trace.v1' }, 'USE_IMPORT', undefined],
      ['a bad id', { trace_id: 'a b' }, 'INVALID_ID', '/trace_id'],
      ...['.', '..', 'import', 'compare'].map(
        (trace_id) =>
          [`the address of another page as an id: ${trace_id}`, { trace_id }, 'INVALID_ID', '/trace_id'] as const,
      ),
      ['a secret as an id', { trace_id: SECRET }, 'INVALID_ID', '/trace_id'],
      ...(['span_id', 'request_id'] as const).map(
        (key) =>
          [
            `a secret as ${key} of an event`,
            { events: [{ name: 'x', [key]: SECRET }] },
            'INVALID_ID',
            `/events/0/${key}`,
          ] as const,
      ),
      [
        'a secret as span_id of an artifact',
        { artifacts: [{ path: 'x', span_id: SECRET }] },
        'INVALID_ID',
        '/artifacts/0/span_id',
      ],
      ['a bad failure tag', { failure_tag: 'sad' }, 'INVALID_FAILURE_TAG', '/failure_tag'],
      ['a span without a name', { spans: [{}] }, 'INVALID_SPAN', '/spans/0'],
      [
        'a span with another parent',
        { spans: [{ id: 'a', name: 'x', spans: [{ name: 'y', parent_id: 'b' }] }] },
        'INVALID_SPAN',
        '/spans/0/spans/0/parent_id',
      ],
      ['a bad event', { spans: [{ name: 'x', events: [{}] }] }, 'INVALID_EVENT', '/spans/0/events/0'],
      [
        'an end before its start',
        { spans: [{ name: 'x', start_ns: at(5), end_ns: at(4) }] },
        'INVALID_TIME',
        '/spans/0/end_ns',
      ],
      [
        'one id twice',
        {
          spans: [
            { id: 'a', name: 'x' },
            { id: 'a', name: 'y' },
          ],
        },
        'DUPLICATE_ID',
        '/spans/1/id',
      ],
      ['a span as its own parent', { spans: [{ id: 'a', parent_id: 'a', name: 'x' }] }, 'PARENT_CYCLE', '/spans/0'],
      [
        'a circle',
        {
          spans: [
            { id: 'a', parent_id: 'b', name: 'x' },
            { id: 'b', parent_id: 'a', name: 'x' },
          ],
        },
        'PARENT_CYCLE',
        '/spans/0',
      ],
      [
        'too many attributes',
        { attributes: Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`a${n}`, 1])) },
        'TOO_MANY_ATTRIBUTES',
        '/attributes',
      ],
      ['an attribute without a name', { spans: [{ name: 'x', attributes: { '': 1 } }] }, 'INVALID_TRACE', undefined],
      [
        'attributes too deep',
        { spans: [{ name: 'x', attributes: { a: JSON.parse('['.repeat(40) + ']'.repeat(40)) } }] },
        'TOO_DEEP',
        undefined,
      ],
      ['content of a file', { artifacts: [{ path: 'a', content: 'x' }] }, 'ARTIFACT_CONTENT', '/artifacts/0/content'],
      ['a tag too long', { tags: ['x'.repeat(65)] }, 'INVALID_TRACE', '/tags'],
      [
        'a number that is not finite',
        '{"spans":[{"name":"x","attributes":{"n":1e999}}]}',
        'INVALID_TRACE',
        '/spans/0/attributes/n',
      ],
    ]
    for (const [what, body, code, path] of cases)
      it(what, async () => {
        const error = refused(400, code, await post(body))
        if (path !== undefined) assert.equal(error.path, path)
      })
    it('another content type', async () => {
      refused(415, 'UNSUPPORTED_MEDIA_TYPE', await post('{}', { 'content-type': 'text/plain' }))
      refused(415, 'UNSUPPORTED_MEDIA_TYPE', await bench.send('POST', '/api/v1/traces'))
    })
    it('another charset, like every route that accepts JSON', async () => {
      for (const charset of ['latin1', 'utf-16'])
        for (const path of ['traces', 'spans', 'events/batch', 'compare', 'runs/x/pin']) {
          const headers = { 'content-type': `application/json; charset=${charset}` }
          refused(415, 'UNSUPPORTED_MEDIA_TYPE', await bench.send('POST', `/api/v1/${path}`, '{"name":"x"}', headers))
        }
      expecting(201, await post('{}', { 'content-type': 'application/json; charset="UTF-8"' }))
    })
    it('an end of the run before its start, in either order of arrival', async () => {
      for (const [first, second, path] of [
        [{ start_ns: at(5) }, { end_ns: at(4) }, '/end_ns'],
        [{ end_ns: at(4) }, { start_ns: at(5) }, '/start_ns'],
      ] as const) {
        const trace_id = `backwards${path}`
        expecting(201, await post({ trace_id, ...first }))
        assert.equal(refused(400, 'INVALID_TIME', await post({ trace_id, ...second })).path, path)
        assert.equal(refused(400, 'INVALID_TIME', await post({ start_ns: at(5), end_ns: at(4) })).path, '/end_ns')
      }
    })
    it('a project header that is invalid in a body', async () => {
      for (const project of ['a b', '..', 'x'.repeat(129), SECRET]) {
        const error = refused(400, 'INVALID_HEADER', await post({}, { 'x-guard-project-id': project }))
        assert.equal(error.path, 'x-guard-project-id')
      }
    })
    it('another project for an existing run', async () => {
      await post({ trace_id: 'owned', project_id: 'a' })
      refused(409, 'TRACE_CONFLICT', await post({ trace_id: 'owned', project_id: 'b' }))
    })
    it('malformed JSON, with its line', async () => {
      assert.equal(refused(400, 'INVALID_JSON', await post('{\n"a": }')).line, 2)
    })
  })
})

describe('POST /api/v1/traces beyond its limits', () => {
  it('rejects a body that is too large, also after decompression', async () => {
    const bench = await startReplay({ max_body_bytes: 2_000 })
    const body = JSON.stringify({ attributes: { a: 'x'.repeat(5_000) } })
    refused(413, 'BODY_TOO_LARGE', await bench.send('POST', '/api/v1/traces', body))
    const zipped = await bench.send('POST', '/api/v1/traces', gzipSync(body), { 'content-encoding': 'gzip' })
    refused(413, 'BODY_TOO_LARGE', zipped)
    await bench.close()
  })

  it('rejects spans beyond the limit of a run', async () => {
    const bench = await startReplay({ max_body_bytes: 64_000_000 })
    const spans = (from: number) => Array.from({ length: 10_000 }, (_, n) => ({ id: `s${from}-${n}`, name: 'x' }))
    for (let part = 0; part < 5; part++)
      assert.ok((await bench.send('POST', '/api/v1/traces', { trace_id: 'full', spans: spans(part) })).status < 300)
    refused(409, 'RUN_FULL', await bench.send('POST', '/api/v1/spans', { trace_id: 'full', name: 'x' }))
    const many = Array.from({ length: 10_001 }, () => ({ name: 'x' }))
    refused(413, 'BODY_TOO_LARGE', await bench.send('POST', '/api/v1/traces', { spans: many }))
    await bench.close()
  })
})
