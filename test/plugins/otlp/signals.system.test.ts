import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { resourceSpans, span } from '../../kit/otlp-data.ts'
import { type Receiver, startReceiver } from './kit.ts'

describe('unsupported signals', () => {
  let receiver: Receiver
  before(async () => {
    receiver = await startReceiver()
  })
  after(() => receiver.started.close())

  const send = (path: string, headers: Record<string, string>, body: string | Uint8Array = '{}') =>
    fetch(receiver.started.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${receiver.started.key}`, ...headers },
      body: typeof body === 'string' ? body : Buffer.from(body),
    })

  it('are accepted in the encoding of the request, and counted', async () => {
    for (const path of ['/v1/logs', '/v1/logs/', '/v1/metrics']) {
      const json = await send(path, { 'content-type': 'application/json' }, '{"resourceLogs":[{}]}')
      assert.deepEqual([json.status, await json.text()], [200, '{}'])
      const binary = await send(path, { 'content-type': 'application/x-protobuf' }, new Uint8Array(5_000_000))
      assert.deepEqual([binary.status, (await binary.arrayBuffer()).byteLength], [200, 0])
      assert.equal(binary.headers.get('content-type'), 'application/x-protobuf')
    }
    const { json } = await receiver.started.request('GET', '/api/health')
    const { otlp } = json as { readonly otlp: object }
    assert.deepEqual(otlp, { ignored_logs: 4, ignored_metrics: 2 })
    const { text } = await receiver.started.request('GET', '/metrics')
    assert.match(text, /guard_otlp_ignored_requests_total\{signal="logs"\} 4\n/)
    assert.deepEqual(await receiver.runIds(), [])
  })

  it('require the key and an OTLP content type', async () => {
    const type = { 'content-type': 'application/json' }
    assert.equal((await send('/v1/logs', { ...type, authorization: 'Bearer wrong' })).status, 401)
    assert.equal((await send('/v1/metrics', { 'content-type': 'text/plain' })).status, 415)
    assert.equal((await receiver.started.request('GET', '/v1/logs')).status, 405)
  })
})

describe('data that is not OTLP', () => {
  const cases: readonly (readonly [body: object, said: RegExp])[] = [
    [{ data: [{ object: 'trace' }] }, /"data" where OTLP has "resourceSpans"/],
    [{ resource_spans: [] }, /"resource_spans".*lowerCamelCase/],
    [{ resourceLogs: [] }, /These are logs.*\/v1\/logs/],
    [{ resourceMetrics: [] }, /These are metrics.*\/v1\/metrics/],
    [{ 'a secret text of any kind': 1 }, /a member of another name/],
    [
      { resourceSpans: [{ resource: {}, instrumentationLibrarySpans: [] }] },
      /"instrumentationLibrarySpans".*"scopeSpans"/,
    ],
    [{ resourceSpans: [{ scopeSpans: [{ scope: {}, items: [] }] }] }, /"items" where OTLP has "spans"/],
    [{ resourceSpans: 'x' }, /resourceSpans.*array/],
  ]
  it('is rejected with a reason', async () => {
    await using receiver = await startReceiver()
    for (const [body, said] of cases) {
      const answer = await receiver.post(body)
      const text = await answer.text()
      assert.equal(answer.status, 400, text)
      assert.match(JSON.parse(text).message, said)
      assert.ok(!text.includes('secret'))
    }
    for (const body of [{}, { resourceSpans: [] }, { resourceSpans: [{ resource: {}, schemaUrl: 'x' }] }])
      assert.deepEqual(await receiver.taken(body), {})
  })

  it('gives a note if other spans of the request are stored', async () => {
    await using receiver = await startReceiver()
    const { resourceSpans: good } = resourceSpans([span()]) as { readonly resourceSpans: readonly object[] }
    const { partialSuccess } = (await receiver.taken({ resourceSpans: [...good, { spans: [] }] })) as {
      readonly partialSuccess: { readonly errorMessage: string }
    }
    assert.match(partialSuccess.errorMessage, /"spans" where OTLP has "scopeSpans"/)
    assert.equal((await receiver.runIds()).length, 1)
  })

  it('with status or kind as a name is rejected with a reason', async () => {
    await using receiver = await startReceiver()
    for (const odd of [{ status: { code: 'STATUS_CODE_ERROR' } }, { kind: 'SPAN_KIND_CLIENT' }]) {
      const { partialSuccess } = (await receiver.taken(resourceSpans([span(odd)]))) as {
        readonly partialSuccess: { readonly rejectedSpans: string; readonly errorMessage: string }
      }
      assert.equal(partialSuccess.rejectedSpans, '1')
      assert.match(partialSuccess.errorMessage, /must be the number of the value/)
    }
  })
})
