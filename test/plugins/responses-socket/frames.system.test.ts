import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { startSocketService, until } from './kit.ts'

const created = (id: string, more: object = {}) => ({ type: 'response.created', response: { id }, ...more })
const completed = (id: string, more: object = {}) => ({
  type: 'response.completed',
  response: { id, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } },
  ...more,
})

describe('messages', () => {
  it('go up byte for byte, fragments joined', async () => {
    await using service = await startSocketService()
    const client = await service.connect()
    const odd = [
      '{"type":"response.create","model":"m-1","input":"caf\u00e9 \ud83d\ude42 \\u00e9 \\/"}',
      '\n{ "input" :\t[ ] , "model":"m-1",\r\n "type" : "response.create", "x": 1.0e+2 }  ',
      '{"model":"m-1","input":[{"type":"message","role":"user","content":"response.cancel"}],"type":"response.\\u0063reate"}',
      '{"type":"response.cancel","response_id":"resp_x"}',
      '{"type":"something.new","deep":{"type":"response.create"}}',
    ]
    for (const text of odd) {
      client.send(text)
      await until(() => service.provider.last.received.length === odd.indexOf(text) + 1)
    }
    const [first = ''] = odd
    client.socket.send(first.slice(0, 9), { fin: false })
    client.socket.send(first.slice(9, 30), { fin: false })
    client.socket.send(first.slice(30), { fin: true })
    await until(() => service.provider.last.received.length === 6)
    assert.deepEqual(service.provider.last.received.map(String), [...odd, first])
    await until(async () => (await service.calls()).length === 4)
  })
  it('come down byte for byte and in order, and are metered', async () => {
    await using service = await startSocketService()
    const client = await service.connect()
    const messages = [
      '{"response":{"id":"resp_a","type":"response.failed"},"type":"response.created"}',
      '{ "type" :\r\n"response.output_text.delta",\n"delta":"\ud83d\ude42 \\ud83d"}',
      'no JSON at all',
      '[1, 2]',
      '{"item":{"type":"error"},"type":"codex.rate_limits","type2":"error"}',
      '{"response":{"usage":{"input_tokens":11,"output_tokens":2,"total_tokens":13},\n"id":"resp_a","model":"m-9"},"x":"\\"type\\":\\"error\\"","type":"response.completed"}',
    ]
    service.provider.script({ messages })
    client.create('Hello')
    for (const message of messages) assert.equal(String(await client.nextBytes()), message)
    const [call] = await service.calls()
    assert.deepEqual(
      [call?.outcome, call?.input_tokens, call?.output_tokens, call?.response_id, call?.model_replied],
      ['ok', 11, 2, 'resp_a', 'm-9'],
    )
  })
  it('of lanes come as the upstream sends them, each metered by itself', async () => {
    await using service = await startSocketService()
    const client = await service.connect({ 'x-guard-session-id': 'lanes' })
    const lanes = ['a', 'b', 'c']
    // the provider answers each in one go, so it is told what to interleave
    for (const stream_id of lanes) {
      service.provider.script({ messages: [] })
      client.create(`Hello ${stream_id}`, { stream_id })
    }
    await until(() => service.provider.creates.length === 3)
    const sent = [
      created('r_b', { stream_id: 'b' }),
      created('r_a', { stream_id: 'a' }),
      { type: 'response.output_text.delta', delta: 'x', stream_id: 'a' },
      created('r_c', { stream_id: 'c' }),
      completed('r_b', { stream_id: 'b' }),
      { type: 'response.output_text.delta', delta: 'y', stream_id: 'c' },
      {
        type: 'error',
        status: 400,
        error: { type: 'invalid_request_error', code: 'bad', message: 'no' },
        stream_id: 'c',
      },
      completed('r_a', { stream_id: 'a' }),
    ]
    for (const message of sent) service.provider.last.send(message)
    for (const message of sent) assert.deepEqual(await client.next(), message)
    const calls = await service.calls()
    assert.deepEqual(
      calls.map(({ stream_id, outcome, status, error_type }) => [stream_id, outcome, status, error_type]),
      [
        ['a', 'ok', 200, null],
        ['b', 'ok', 200, null],
        ['c', 'upstream_error', 400, 'invalid_request_error'],
      ],
    )
  })
  it('of 64 MiB pass down', async () => {
    await using service = await startSocketService()
    const client = await service.connect({}, { maxPayload: 80 * 1024 * 1024 })
    const big = JSON.stringify({ type: 'response.image', data: 'x'.repeat(64 * 1024 * 1024) })
    service.provider.script({ messages: [created('r'), big, completed('r')] })
    client.create('Draw')
    await client.next()
    assert.ok((await client.nextBytes()).equals(Buffer.from(big)))
    assert.equal((await client.next()).type, 'response.completed')
  })
  it('are compressed on the way of an upstream that wants it, and pass as they are', async () => {
    await using service = await startSocketService({ provider: { perMessageDeflate: true } })
    const client = await service.connect({}, { perMessageDeflate: true })
    assert.match(service.provider.last.socket.extensions, /permessage-deflate/)
    assert.equal(client.socket.extensions, '')
    const text = 'again and again '.repeat(500)
    service.provider.script({ text })
    client.create(text)
    const end = await client.end()
    assert.equal((end.response as { output: { content: { text: string }[] }[] }).output[0]?.content[0]?.text, text)
    assert.equal(service.provider.creates[0]?.input, text)
  })
})

describe('messages that cannot be used', () => {
  const bad: readonly (readonly [what: string, text: string])[] = [
    ['no JSON', '{"type":"response.create"'],
    ['no object', '[]'],
    ['no type', '{"model":"m-1"}'],
    ['a type that is no text', '{"type":1}'],
    ['two types', '{"type":"response.cancel","type":"response.create","model":"m-1"}'],
    ['two types in other spelling', '{"type":"a","ty\\u0070e":"response.create"}'],
    ['two inputs', '{"type":"response.create","model":"m-1","input":"a","input":"b"}'],
    ['two lanes', '{"type":"response.create","model":"m-1","stream_id":"a","stream_id":"b"}'],
    ['two parents', '{"type":"response.create","model":"m-1","previous_response_id":"a","previous_response_id":null}'],
    ['two ways to generate', '{"type":"response.create","generate":false,"model":"m-1","generate":true}'],
    ['broken values', '{"type":"response.create","model":"m-1","input":[nul]}'],
    ['broken values of another message', '{"type":"x","y":[01]}'],
    ['deep nesting', `{"type":"x","y":${'['.repeat(600)}${']'.repeat(600)}}`],
  ]
  for (const [what, text] of bad)
    it(`as ${what} are answered, not passed on, and the connection goes on`, async () => {
      await using service = await startSocketService()
      const client = await service.connect()
      client.send(text)
      const answer = (await client.next()) as unknown as { type: string; status: number; error: { code: string } }
      assert.deepEqual([answer.type, answer.status, answer.error.code], ['error', 400, 'INVALID_BODY'])
      client.create('Hello')
      assert.equal((await client.end()).type, 'response.completed')
      assert.equal(service.provider.last.received.length, 1)
      assert.equal((await service.calls()).length, 1)
    })
  it('end the connection where they break the protocol, and the upstream is closed', async () => {
    const frame = (first: number, payload: Buffer): Buffer =>
      Buffer.concat([Buffer.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload])
    const rsv = 0x40
    const cases: readonly (readonly [bytes: Buffer, code: number])[] = [
      [frame(0x82, Buffer.from('{}')), 1003],
      [frame(0x83, Buffer.from('{}')), 1002],
      [frame(0x81 | rsv, deflateRawSync('{}')), 1002],
      [frame(0x81, Buffer.from([0xff, 0xfe])), 1007],
      [Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0]), 1009],
    ]
    await using service = await startSocketService()
    for (const [bytes, code] of cases) {
      const client = await service.connect()
      const { closed } = service.provider.last
      ;(client.socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(bytes)
      assert.equal((await client.closed).code, code, bytes.toString('hex'))
      assert.equal((await closed).code, 1001)
    }
    assert.deepEqual(await service.calls(), [])
  })
  it('are closed with 1009 above the limit', async () => {
    await using service = await startSocketService({ config: 'server: { body_limit_bytes: 2000 }' })
    const client = await service.connect()
    client.create('x'.repeat(2_001))
    assert.equal((await client.closed).code, 1009)
    assert.deepEqual(await service.calls(), [])
  })
})
