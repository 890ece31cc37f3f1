import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { deflateSync, gzipSync } from 'node:zlib'
import { GuardError } from 'guard-gateway/core'
import protobuf from 'protobufjs/light.js'
import { pairs, resourceSpans, span, traceId } from '../../kit/otlp-data.ts'
import { type Receiver, startReceiver } from './kit.ts'
import { protobufBytes } from './spans.ts'

const PROTOBUF = { 'content-type': 'application/x-protobuf' }

/** google.rpc.Status and the answer of the trace service, written down a second time. */
const messages = protobuf.Root.fromJSON({
  nested: {
    Status: { fields: { code: { type: 'int32', id: 1 }, message: { type: 'string', id: 2 } } },
    Partial: { fields: { rejected: { type: 'int64', id: 1 }, message: { type: 'string', id: 2 } } },
    Answer: { fields: { partial: { type: 'Partial', id: 1 } } },
  },
})
const decoded = async (name: string, answer: Response): Promise<unknown> => {
  assert.equal(answer.headers.get('content-type'), 'application/x-protobuf')
  const type = messages.lookupType(name)
  return type.toObject(type.decode(Buffer.from(await answer.arrayBuffer())), { longs: Number })
}

const one = (over: object = {}) => resourceSpans([span(over)], { 'service.name': 'svc' })

describe('responses to exporters', () => {
  let receiver: Receiver
  before(async () => {
    receiver = await startReceiver()
  })
  after(() => receiver.started.close())

  const refused = async (status: number, code: number, answer: Response): Promise<string> => {
    const text = await answer.text()
    assert.equal(answer.status, status, text)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    const body = JSON.parse(text)
    assert.deepEqual(Object.keys(body), ['code', 'message'])
    assert.equal(body.code, code)
    return body.message
  }

  it('are an empty object in JSON, no bytes in protobuf', async () => {
    const json = await receiver.post(one())
    assert.deepEqual([json.status, await json.text()], [200, '{}'])
    assert.match(json.headers.get('content-type') ?? '', /^application\/json/)
    const binary = await receiver.post(await protobufBytes(), PROTOBUF)
    assert.deepEqual([binary.status, (await binary.arrayBuffer()).byteLength], [200, 0])
    assert.equal(binary.headers.get('content-type'), 'application/x-protobuf')
  })

  it('reject what is no span, and the spans of a broken resource, alone', async () => {
    const spans = ['1', '2', '3'].map((digit) => span({ spanId: digit.repeat(16) }))
    const bad = [null, [], 'span', 7, { attributes: 'none' }]
    const data = resourceSpans([...spans, ...bad] as object[])
    const broken = resourceSpans([span({ spanId: '4'.repeat(16) })], { count: { intValue: 'many' } })
    const groups = [data, broken].flatMap((body) => (body as { resourceSpans: object[] }).resourceSpans)
    const { partialSuccess } = (await receiver.taken({ resourceSpans: groups })) as {
      readonly partialSuccess: { readonly rejectedSpans: string; readonly errorMessage: string }
    }
    assert.equal(partialSuccess.rejectedSpans, '6', partialSuccess.errorMessage)
    assert.equal((await receiver.runIds()).includes(traceId), true)
  })

  it('accept an empty request', async () => {
    const before = await receiver.runIds()
    assert.deepEqual(await receiver.taken({}), {})
    assert.deepEqual(await receiver.taken({ resourceSpans: [] }), {})
    assert.equal((await receiver.post(new Uint8Array(), PROTOBUF)).status, 200)
    assert.deepEqual(await receiver.runIds(), before)
  })

  it('accept a trailing slash, a charset and every supported encoding', async () => {
    const data = Buffer.from(JSON.stringify(one()))
    const slash = await fetch(`${receiver.url}/`, {
      method: 'POST',
      headers: { 'x-api-key': receiver.started.key, 'content-type': 'application/json; charset=utf-8' },
      body: data,
    })
    assert.equal(slash.status, 200)
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(data)],
      ['deflate', deflateSync(data)],
      ['identity', data],
    ] as const)
      assert.equal((await receiver.post(bytes, { 'content-encoding': encoding })).status, 200, encoding)
    const packed = gzipSync(await protobufBytes())
    assert.equal((await receiver.post(packed, { ...PROTOBUF, 'content-encoding': 'gzip' })).status, 200)
  })

  it('report errors of a body', async () => {
    assert.match(await refused(400, 3, await receiver.post('{"resourceSpans":[')), /Line 1, column 19/)
    assert.match(await refused(400, 3, await receiver.post('')), /Line 1, column 1/)
    assert.match(await refused(400, 3, await receiver.post([])), /resourceSpans/)
    assert.match(
      await refused(400, 3, await receiver.post({ resourceSpans: [{ scopeSpans: {} }] })),
      /\/resourceSpans\/0\/scopeSpans.*array/,
    )
    assert.match(await refused(400, 3, await receiver.post('x', { 'content-encoding': 'gzip' })), /gzip/)
    const deep = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`
    assert.match(await refused(400, 3, await receiver.post(deep)), /160 levels/)
    const binary = await receiver.post(Buffer.from('no protobuf'), PROTOBUF)
    assert.equal(binary.status, 400)
    assert.deepEqual(await decoded('Status', binary), {
      code: 3,
      message: 'The body is not OTLP trace data in protobuf.',
    })
  })

  it('report an invalid project header', async () => {
    assert.match(
      await refused(400, 3, await receiver.post(one(), { 'x-guard-project-id': 'a b' })),
      /x-guard-project-id/,
    )
  })

  it('require the gateway key, in the encoding of the request', async () => {
    for (const headers of [{ authorization: 'Bearer wrong' }, { authorization: '' }]) {
      const json = await receiver.post(one(), headers)
      assert.equal(json.headers.get('www-authenticate'), 'Bearer realm="guard"')
      assert.match(json.headers.get('x-guard-request-id') ?? '', /^guardreq_/)
      assert.match(await refused(401, 16, json), /gateway key/)
    }
    const binary = await receiver.post(new Uint8Array(), { ...PROTOBUF, authorization: 'Bearer wrong' })
    assert.equal(binary.status, 401)
    assert.equal(((await decoded('Status', binary)) as { code: number }).code, 16)
  })

  it('reject other types, encodings, methods and signals', async () => {
    for (const type of ['text/plain', 'application/xml', 'application/protobuf', 'nonsense'])
      assert.match(await refused(415, 3, await receiver.post('x', { 'content-type': type })), /x-protobuf/, type)
    const headers = { authorization: `Bearer ${receiver.started.key}` }
    await refused(415, 3, await fetch(receiver.url, { method: 'POST', headers }))
    await refused(415, 3, await receiver.post('x', { 'content-encoding': 'lzma' }))
    const got = await fetch(receiver.url, { headers })
    assert.deepEqual([got.status, got.headers.get('allow')], [405, 'POST'])
  })

  it('reject large requests, before or after decompression', async () => {
    const padding = JSON.stringify({ resourceSpans: [], padding: 'x'.repeat(32 * 1024 * 1024) })
    const said = /larger than 33554432 bytes, as sent or inflated/
    assert.match(await refused(413, 8, await receiver.post(padding)), said)
    assert.match(await refused(413, 8, await receiver.post(gzipSync(padding), { 'content-encoding': 'gzip' })), said)
  })

  it('report partial success in the encoding of the request', async () => {
    const odd = [span(), span({ spanId: '0'.repeat(16) }), span({ spanId: 'b'.repeat(16), name: '' })]
    const { partialSuccess } = (await receiver.taken(resourceSpans(odd))) as {
      partialSuccess: { rejectedSpans: string; errorMessage: string }
    }
    assert.equal(partialSuccess.rejectedSpans, '2')
    assert.match(partialSuccess.errorMessage, /^2 of 3 .*\/spans\/1\/spanId.*16 hex digits.*\(and 1 more\)$/)
    const binary = await receiver.post(nameAlone(), PROTOBUF)
    assert.equal(binary.status, 200)
    const answer = (await decoded('Answer', binary)) as { partial: { rejected: number; message: string } }
    assert.equal(answer.partial.rejected, 1)
    assert.match(answer.partial.message, /traceId/)
  })

  it('reject a run whose native id is the address of another page', async () => {
    const attributes = pairs({ 'guard.trace.id': '..', 'guard.span.id': 'root' })
    const { partialSuccess } = (await receiver.taken(one({ traceId: 'e'.repeat(32), attributes }))) as {
      readonly partialSuccess: unknown
    }
    const errorMessage =
      '1 of 1 spans were rejected; span root: No run can be called "..", since that is the address of another page. Use another trace id.'
    assert.deepEqual(partialSuccess, { rejectedSpans: '1', errorMessage })
  })

  it('ask for a retry while storage is unavailable', async () => {
    let failure: Error | undefined
    receiver.started.gateway.hooks.keep.tap('test', () => {
      if (failure !== undefined) throw failure
    })
    for (const code of ['STORAGE_FULL', 'STORAGE_BUSY'] as const) {
      failure = new GuardError(code)
      const answer = await receiver.post(one({ traceId: 'c'.repeat(32) }))
      assert.equal(answer.headers.get('retry-after'), '1')
      await refused(503, 14, answer)
    }
    failure = new Error('inside')
    assert.doesNotMatch(await refused(500, 13, await receiver.post(one({ traceId: 'c'.repeat(32) }))), /inside/)
    failure = undefined
    await receiver.taken(one({ traceId: 'c'.repeat(32) }))
    assert.equal((await receiver.runIds()).includes(traceId), true)
  })
})

/** Trace data of one span with a name alone. */
const nameAlone = (): Buffer => {
  const framed = (tag: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([tag, bytes.length]), bytes])
  return framed(0x0a, framed(0x12, framed(0x12, framed(0x2a, Buffer.from('step')))))
}
