import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import OpenAI, { APIError, NotFoundError } from 'openai'
import type { Script } from '../kit/provider.ts'
import { type Service, startService } from '../kit/service.ts'

const tool = { type: 'function' as const, function: { name: 'read_file', parameters: { type: 'object' } } }
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`

/** A chat stream that calls a tool in two pieces. */
const toolStream: Script = {
  headers: { 'content-type': 'text/event-stream' },
  body: [
    { role: 'assistant', tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'read_file' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '"a.ts"}' } }] },
  ]
    .map((delta) => data({ id: 'c', object: 'chat.completion.chunk', model: 'm-1', choices: [{ index: 0, delta }] }))
    .concat(
      data({ id: 'c', model: 'm-1', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
      data({ id: 'c', model: 'm-1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }),
      'data: [DONE]\n\n',
    )
    .join(''),
}

const overloaded: Script = {
  status: 529,
  headers: { 'content-type': 'application/json', 'retry-after-ms': '1' },
  body: '{"error":{"message":"try later","type":"overloaded_error","code":null,"param":null}}',
}

describe('the openai client', () => {
  let service: Service
  let session = ''
  let sessions = 0
  before(async () => {
    service = await startService({ config: 'default_mode: enforce' })
  })
  after(() => service[Symbol.asyncDispose]())
  beforeEach(() => {
    session = `openai-${++sessions}`
  })

  const client = (base = '/v1') =>
    new OpenAI({
      apiKey: service.gateway.key,
      baseURL: service.gateway.url + base,
      defaultHeaders: { 'x-guard-session-id': session },
    })
  const ask = (text: string) => ({ model: 'm-1', messages: [{ role: 'user' as const, content: text }] })

  for (const base of ['/v1', '/v1/', '', '/v1/v1'])
    it(`reads chat, responses and models with the base address ending in "${base}"`, async () => {
      const openai = client(base)
      const chat = await openai.chat.completions.create(ask('hi'))
      assert.equal(chat.choices[0]?.message.content, 'Hello there.')
      assert.equal(chat.usage?.total_tokens, 25)
      const response = await openai.responses.create({ model: 'm-1', input: 'hi' })
      assert.equal(response.output_text, 'Hello there.')
      assert.deepEqual(
        (await openai.models.list()).data.map(({ id }) => id),
        ['m-1'],
      )
      assert.equal((await service.session(session)).total_tokens, 50)
    })

  it('reads streams of both styles', async () => {
    const openai = client()
    let text = ''
    for await (const chunk of await openai.chat.completions.create({ ...ask('hi'), stream: true }))
      text += chunk.choices[0]?.delta.content ?? ''
    assert.equal(text, 'Hello there.')
    const types: string[] = []
    for await (const event of await openai.responses.create({ model: 'm-1', input: 'hi', stream: true }))
      types.push(event.type)
    assert.deepEqual([types[0], types.at(-1)], ['response.created', 'response.completed'])
    const outcomes = (await service.events(session)).map(({ attributes }) => attributes.outcome)
    assert.deepEqual(outcomes, ['ok', 'ok'])
  })

  it('collects a tool call that comes in pieces', async () => {
    service.provider.script(toolStream)
    const stream = client().chat.completions.stream({ ...ask('read it'), tools: [tool] })
    const { choices } = await stream.finalChatCompletion()
    const [call] = choices[0]?.message.tool_calls ?? []
    assert.deepEqual(call?.type === 'function' && call.function.arguments, '{"path":"a.ts"}')
    assert.equal((await service.session(session)).total_tokens, 10)
  })

  it("gets a provider's error as the provider wrote it", async () => {
    const body = {
      error: { message: 'No such model', type: 'invalid_request_error', code: 'model_gone', param: 'model' },
    }
    service.provider.script({ status: 404, body: JSON.stringify(body) })
    await assert.rejects(client().chat.completions.create(ask('hi')), (error) => {
      assert.ok(error instanceof NotFoundError)
      assert.deepEqual([error.code, error.param, error.requestID], ['model_gone', 'model', 'req_up'])
      return true
    })
    const [event] = await service.events(session)
    assert.equal(event?.attributes.outcome, 'upstream_error')
  })

  it('tries three times without being taken for a loop, also when it asks the same twice', async () => {
    const seen = service.provider.requests.length
    for (const times of [1, 2]) {
      service.provider.script(overloaded, overloaded, {})
      const chat = await client().chat.completions.create(ask('the same'))
      assert.equal(chat.choices[0]?.message.content, 'Hello there.')
      assert.equal(service.provider.requests.length - seen, 3 * times)
    }
    const counts = service.provider.requests.slice(seen).map(({ headers }) => headers[headers.indexOf(MARK) + 1])
    assert.deepEqual(counts, ['0', '1', '2', '0', '1', '2'])
    const { flagged, blocked, requests, errors } = await service.session(session)
    assert.deepEqual({ flagged, blocked, requests, errors }, { flagged: 0, blocked: 0, requests: 6, errors: 4 })
  })

  for (const [style, send] of [
    ['chat', () => client().chat.completions.create(ask('again'))],
    ['responses', () => client().responses.create({ model: 'm-1', input: 'again' })],
    ['chat stream', () => client().chat.completions.create({ ...ask('again'), stream: true })],
  ] as const)
    it(`stops after one request at a block and tells the guard's reason: ${style}`, async () => {
      await send()
      await send()
      const before = await service.session(session)
      const seen = service.provider.requests.length
      await assert.rejects(send(), (error) => {
        assert.ok(error instanceof APIError)
        assert.deepEqual([error.status, error.code, error.type], [429, 'LOOP_EXACT', 'guard_block'])
        assert.match(error.message, /Guard blocked this request: .*Send a new instruction, or resume the session\.$/)
        assert.match(error.requestID ?? '', /^guardreq_/)
        return true
      })
      const { requests, blocked } = await service.session(session)
      assert.deepEqual([requests, blocked], [before.requests, 1])
      assert.equal(service.provider.requests.length, seen)
      const retries = (await service.events(session)).map(({ attributes }) => attributes.retries)
      assert.deepEqual(retries, [0, 0, 0], 'one blocked request, no repeat')
    })

  it('stops after one request at a paused session', async () => {
    await client().chat.completions.create(ask('hi'))
    await service.request('POST', `/api/sessions/${session}/pause`)
    await assert.rejects(client().chat.completions.create(ask('more')), { status: 409, code: 'PAUSED_SESSION' })
    assert.deepEqual(
      (await service.events(session))
        .filter(({ name }) => name === 'policy.decision')
        .map(({ attributes }) => attributes.retries),
      [0, 0],
    )
  })

  it('is told of a wrong key in one request', async () => {
    const openai = new OpenAI({ apiKey: 'wrong', baseURL: `${service.gateway.url}/v1` })
    await assert.rejects(openai.chat.completions.create(ask('hi')), { status: 401, code: 'UNAUTHORIZED' })
  })
})

const MARK = 'x-stainless-retry-count'
