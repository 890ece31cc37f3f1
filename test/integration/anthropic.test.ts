import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import Anthropic, { APIError, BadRequestError } from '@anthropic-ai/sdk'
import type { Script } from '../kit/provider.ts'
import { type Service, startService } from '../kit/service.ts'

const named = (event: { readonly type: string }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const event = (type: string, rest: object): string => named({ type, ...rest })

/** A stream that calls a tool, its input in two pieces. */
const toolStream: Script = {
  headers: { 'content-type': 'text/event-stream' },
  body: [
    event('message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm-1',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 7, output_tokens: 1 },
      },
    }),
    event('content_block_start', {
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {} },
    }),
    event('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: '{"path":' } }),
    event('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: '"a.ts"}' } }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 3 } }),
    event('message_stop', {}),
  ].join(''),
}

const overloaded: Script = {
  status: 529,
  headers: { 'content-type': 'application/json', 'retry-after-ms': '1' },
  body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_up"}',
}

const tool = { name: 'read_file', input_schema: { type: 'object' as const } }

describe('the Anthropic client', () => {
  let service: Service
  let session = ''
  let sessions = 0
  before(async () => {
    service = await startService({ config: 'default_mode: enforce' })
  })
  after(() => service[Symbol.asyncDispose]())
  beforeEach(() => {
    session = `anthropic-${++sessions}`
  })

  const client = (base = '') =>
    new Anthropic({
      apiKey: service.gateway.key,
      baseURL: service.gateway.url + base,
      defaultHeaders: { 'x-guard-session-id': session },
    })
  const ask = (content: string) => ({ model: 'm-1', max_tokens: 64, messages: [{ role: 'user' as const, content }] })

  for (const base of ['', '/', '/v1'])
    it(`reads messages and token counts with the base address ending in "${base}"`, async () => {
      const message = await client(base).messages.create(ask('hi'))
      assert.deepEqual(message.content, [{ type: 'text', text: 'Hello there.' }])
      const { input_tokens } = await client(base).messages.countTokens({ model: 'm-1', messages: ask('hi').messages })
      assert.equal(input_tokens, 42)
      const { requests, total_tokens } = await service.session(session)
      assert.deepEqual([requests, total_tokens], [1, 25], 'counting tokens is no request')
    })

  it('takes the key as a bearer token too', async () => {
    const bearer = new Anthropic({ apiKey: null, authToken: service.gateway.key, baseURL: service.gateway.url })
    assert.equal((await bearer.messages.create(ask('hi'))).stop_reason, 'end_turn')
  })

  it('reads a stream', async () => {
    const message = await client().messages.stream(ask('hi')).finalMessage()
    assert.deepEqual(message.content, [{ type: 'text', text: 'Hello there.' }])
    assert.deepEqual([message.usage.input_tokens, message.usage.output_tokens], [20, 5])
    assert.equal((await service.session(session)).total_tokens, 25)
  })

  it('collects a tool call that comes in pieces', async () => {
    service.provider.script(toolStream)
    const message = await client()
      .messages.stream({ ...ask('read it'), tools: [tool] })
      .finalMessage()
    assert.deepEqual(message.content, [{ type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a.ts' } }])
    assert.equal((await service.session(session)).total_tokens, 10)
  })

  it("gets a provider's error as the provider wrote it, whole or within a stream", async () => {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: too large' } }
    service.provider.script({ status: 400, body: JSON.stringify(error) })
    await assert.rejects(client().messages.create(ask('hi')), (thrown) => {
      assert.ok(thrown instanceof BadRequestError)
      assert.deepEqual(thrown.error, error)
      return true
    })
    const broken = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    service.provider.script({ headers: { 'content-type': 'text/event-stream' }, body: named(broken) })
    await assert.rejects(client().messages.stream(ask('hello')).finalMessage(), { error: broken })
    const outcomes = (await service.events(session)).map(({ attributes }) => attributes.outcome)
    assert.deepEqual(outcomes, ['upstream_error', 'upstream_error'])
  })

  it('tries three times without being taken for a loop', async () => {
    const seen = service.provider.requests.length
    service.provider.script(overloaded, overloaded, {})
    assert.equal((await client().messages.create(ask('the same'))).stop_reason, 'end_turn')
    assert.equal(service.provider.requests.length - seen, 3)
    const { flagged, blocked, requests, errors } = await service.session(session)
    assert.deepEqual({ flagged, blocked, requests, errors }, { flagged: 0, blocked: 0, requests: 3, errors: 2 })
  })

  for (const [kind, send] of [
    ['whole', () => client().messages.create(ask('again'))],
    ['streamed', () => client().messages.stream(ask('again')).finalMessage()],
  ] as const)
    it(`stops after one request at a block and tells the guard's reason: ${kind}`, async () => {
      await send()
      await send()
      const seen = service.provider.requests.length
      await assert.rejects(send(), (thrown) => {
        assert.ok(thrown instanceof APIError)
        const body = thrown.error as { readonly type: string; readonly error: Readonly<Record<string, string>> }
        assert.deepEqual([thrown.status, body.type, body.error.type], [429, 'error', 'guard_block'])
        assert.deepEqual([body.error.code, body.error.rule_id], ['LOOP_EXACT', 'exact_repeat'])
        assert.match(thrown.message, /Guard blocked this request: /)
        assert.match(thrown.requestID ?? '', /^guardreq_/)
        return true
      })
      assert.equal(service.provider.requests.length, seen)
      const retries = (await service.events(session)).map(({ attributes }) => attributes.retries)
      assert.deepEqual(retries, [0, 0, 0], 'one blocked request, no repeat')
    })

  it('stops after one request at a paused agent', async () => {
    const made = await service.request('POST', '/api/agents', { id: 'builder' })
    const { key } = made.json as { readonly key: string }
    const builder = new Anthropic({
      apiKey: key,
      baseURL: service.gateway.url,
      defaultHeaders: { 'x-guard-session-id': session },
    })
    await builder.messages.create(ask('hi'))
    await service.request('POST', '/api/agents/builder/pause')
    const seen = service.provider.requests.length
    const isFinal = (thrown: unknown): boolean =>
      thrown instanceof APIError && thrown.status === 409 && thrown.headers?.get('x-should-retry') === 'false'
    await assert.rejects(builder.messages.create(ask('more')), isFinal)
    await assert.rejects(builder.messages.countTokens({ model: 'm-1', messages: ask('more').messages }), isFinal)
    assert.equal(service.provider.requests.length, seen)
  })
})
