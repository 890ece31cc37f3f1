import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dialects } from '../kit/dialogue.ts'
import { replyFor } from '../kit/replies.ts'
import { decisionOf, type Service, startService } from '../kit/service.ts'

describe('4.2 model proxy: endpoints', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service[Symbol.asyncDispose]())

  for (const dialect of dialects)
    for (const stream of [false, true])
      it(`POST ${dialect.path} ${stream ? 'streams' : 'answers'} in the provider's own format, with the guard's headers`, async () => {
        const answer = await service.send(dialect, [{ user: `hi ${stream}` }], {}, { stream })
        const reply = replyFor(dialect.path, stream)
        assert.deepEqual([answer.status, answer.text], [200, reply.body])
        assert.equal(answer.headers.get('content-type'), reply.type)
        assert.match(answer.headers.get('x-guard-request-id') ?? '', /^guardreq_/)
        assert.equal(answer.headers.get('x-guard-decision'), 'allow')
        assert.equal(answer.headers.has('x-guard-reason'), false)
        assert.deepEqual(
          JSON.parse(service.provider.last.body.toString()),
          dialect.body([{ user: `hi ${stream}` }], { stream }),
        )
      })
  it('GET /v1/models gives the models of the upstream', async () => {
    const answer = await service.request('GET', '/v1/models')
    assert.deepEqual([answer.status, answer.text], [200, replyFor('/v1/models', false).body])
  })
  it('POST /v1/messages/count_tokens gives the count of the upstream and is neither judged nor recorded', async () => {
    const before = await service.gateway.gateway.storage.find('calls', { limit: 500 })
    const answer = await service.request('POST', '/v1/messages/count_tokens', { model: 'm-1', messages: [] })
    assert.deepEqual(
      [answer.status, answer.json, answer.headers.has('x-guard-decision')],
      [200, { input_tokens: 42 }, false],
    )
    const now = await service.gateway.gateway.storage.find('calls', { limit: 500 })
    assert.equal(now.rows.length, before.rows.length)
  })
  it('HEAD / answers without a key', async () => {
    const answer = await service.request('HEAD', '/', undefined, { authorization: '' })
    assert.deepEqual([answer.status, answer.text], [200, ''])
  })
  it('a Responses request may have a string as its input, and a Messages request sends provider-version', async () => {
    assert.equal((await service.request('POST', '/v1/responses', { model: 'm-1', input: 'hi' })).status, 200)
    const messages = { model: 'm-1', max_tokens: 8, messages: [{ role: 'user', content: 'hello' }] }
    await service.request('POST', '/v1/messages', messages, { 'provider-version': '2023-06-01' })
    const { headers } = service.provider.last
    assert.equal(headers[headers.findIndex((name) => name.toLowerCase() === 'anthropic-version') + 1], '2023-06-01')
  })
  it("a provider's error comes back in its own format", async () => {
    service.provider.script({ status: 418, headers: { 'content-type': 'text/plain' }, body: 'teapot' })
    const answer = await service.request('POST', '/v1/responses', { model: 'm-1', input: 'tea' })
    assert.deepEqual([answer.status, answer.text, answer.headers.get('content-type')], [418, 'teapot', 'text/plain'])
  })
  it('project, session and agent come from their headers', async () => {
    const answer = await service.request(
      'POST',
      '/v1/responses',
      { model: 'm-1', input: 'who' },
      {
        'x-guard-project-id': 'shop',
        'x-guard-session-id': 'window',
        'x-guard-agent-id': 'builder',
      },
    )
    const session = await service.session(answer.headers.get('x-guard-session-id') ?? '')
    assert.deepEqual([session.project_id, session.external_id, session.agent_id], ['shop', 'window', 'builder'])
    assert.ok(!service.provider.last.headers.some((name) => name.toLowerCase().startsWith('x-guard-')))
  })
})

describe('4.2 model proxy: fingerprints', () => {
  let service: Service
  let number = 0
  before(async () => {
    service = await startService()
  })
  after(() => service[Symbol.asyncDispose]())

  /** Whether the guard takes both bodies for the same request: the third of them is flagged. */
  const same = async (path: string, a: unknown, b: unknown): Promise<boolean> => {
    const headers = { 'x-guard-session-id': `pair-${++number}` }
    for (const body of [a, b]) await service.request('POST', path, body, headers)
    return (await service.request('POST', path, a, headers)).headers.get('x-guard-reason') === 'LOOP_EXACT'
  }
  const base = { model: 'm-1', input: 'hi', temperature: 1 }
  const chat = { model: 'm-1', messages: [{ role: 'user', content: 'hi' }] }
  const messages = { model: 'm-1', max_tokens: 1, system: 'be brief', messages: [{ role: 'user', content: 'hi' }] }

  for (const [what, path, a, b] of [
    ['model', '/v1/responses', base, { ...base, model: 'm-2' }],
    ['input', '/v1/responses', base, { ...base, input: 'hello' }],
    ['messages', '/v1/chat/completions', chat, { ...chat, messages: [{ role: 'user', content: 'hello' }] }],
    ['system', '/v1/messages', messages, { ...messages, system: 'be long' }],
    ['tools', '/v1/responses', base, { ...base, tools: [{ type: 'function', name: 'f', parameters: {} }] }],
    ['tool_choice', '/v1/responses', base, { ...base, tool_choice: 'none' }],
  ] as const)
    it(`1 ${what} makes another request`, async () => assert.equal(await same(path, a, b), false))
  for (const [what, a, b] of [
    ['other members', base, { ...base, temperature: 0, stream: true, user: 'x' }],
    [
      'request ids, timestamps and trace ids',
      { ...base, request_id: 'a', timestamp: 1, trace_id: 't' },
      { ...base, request_id: 'b', timestamp: 2, trace_id: 'u' },
    ],
    ['white space', base, { ...base, input: '  hi \n ' }],
    ['the order of keys', base, { temperature: 1, input: 'hi', model: 'm-1' }],
  ] as const)
    it(`2 ${what} do not`, async () => assert.equal(await same('/v1/responses', a, b), true))

  for (const [what, path, body] of [
    [
      'function objects of Chat Completions',
      '/v1/chat/completions',
      (args: string) => ({
        ...chat,
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }] },
        ],
      }),
    ],
    [
      'function objects of Responses',
      '/v1/responses',
      (args: string) => ({
        ...base,
        input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: args }],
      }),
    ],
    [
      'tool_use objects of Messages',
      '/v1/messages',
      (args: string) => ({
        ...messages,
        messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: JSON.parse(args) }] }],
      }),
    ],
    [
      'generic tool_name payloads',
      '/v1/chat/completions',
      (args: string) => ({ model: 'm-1', tool_name: 'f', arguments: args }),
    ],
  ] as const)
    it(`3 ${what} are tool calls: equal arguments in any order repeat, others do not`, async () => {
      const headers = { 'x-guard-session-id': `tools-${++number}` }
      const reasons = []
      for (const [n, args] of ['{"a":1,"b":2}', '{"b":2,"a":1}', '{ "a": 1, "b": 2 }', '{"a":2,"b":2}'].entries())
        reasons.push(
          decisionOf(await service.request('POST', path, { ...body(args), model: `m-${n}` }, headers)).reason,
        )
      assert.deepEqual(reasons, [null, null, 'LOOP_TOOL_CALL', null])
      const stored = await service.gateway.gateway.storage.find('calls', { limit: 4 })
      assert.ok(!JSON.stringify(stored.rows).includes('"a":1'), 'arguments are not kept')
    })
})
