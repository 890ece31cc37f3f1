import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dialectOf } from '../kit/dialogue.ts'
import { chatReply } from '../kit/replies.ts'
import { decisionOf, type Service, startService } from '../kit/service.ts'

const chat = dialectOf('chat_completions')
const session = { 'x-guard-session-id': 'one' }
const ask = (service: Service, user: string) => service.send(chat, [{ user }], session)
const reasonOf = async (service: Service, user: string) => decisionOf(await ask(service, user)).reason

/** A reply that reports so many tokens. */
const spending = (total_tokens: number) => ({
  body: JSON.stringify({ choices: [], usage: { prompt_tokens: total_tokens, completion_tokens: 0, total_tokens } }),
})

describe('8 limits: the defaults of the rules', () => {
  it('are those of the table, each editable by rule', async () => {
    await using service = await startService()
    const { rules } = (await service.request('GET', '/api/policies/default')).json as {
      rules: { rule_type: string; threshold: number; window_size: number }[]
    }
    const limits = Object.fromEntries(
      rules.map(({ rule_type, threshold, window_size }) => [rule_type, [threshold, window_size]]),
    )
    assert.deepEqual(limits, {
      exact_repeat: [3, 8],
      tool_repeat: [3, 8],
      error_retry: [5, 0],
      sequence_repeat: [3, 15],
      max_requests: [50, 0],
      max_tokens: [100_000, 0],
    })
    await service.policy({ rules: [{ rule_type: 'exact_repeat', threshold: 2, window_size: 2 }] })
    assert.deepEqual([await reasonOf(service, 'same'), await reasonOf(service, 'same')], [null, 'LOOP_EXACT'])
  })
  it('exact_repeat counts within a window of 8: a third time in the ninth request is no match', async () => {
    await using service = await startService()
    for (const letter of 'abcdefgaa') {
      // the second and third "a" are the eighth and ninth request
      assert.equal(await reasonOf(service, letter), null)
    }
    assert.equal(await reasonOf(service, 'a'), 'LOOP_EXACT')
  })
  it('error_retry lets five equal errors pass, and another error or a success starts over', async () => {
    await using service = await startService()
    const failing = { status: 500, body: '{"error":{"type":"server_error","message":"broken"}}' }
    const other = { status: 429, body: '{"error":{"type":"rate_limit","message":"slow down"}}' }
    service.provider.script(failing, failing, failing, failing, other, failing, failing, failing, failing, failing)
    for (let n = 0; n < 10; n++) assert.equal(await reasonOf(service, `try ${n}`), null, `request ${n}`)
    assert.equal(await reasonOf(service, 'next'), 'LOOP_ERROR_RETRY')
  })
  it('max_requests lets 50 requests of a session pass', async () => {
    await using service = await startService({ config: 'default_mode: enforce' })
    for (let n = 0; n < 50; n++) assert.equal((await ask(service, `task ${n}`)).status, 200)
    assert.equal((await ask(service, 'one more')).status, 429)
    assert.equal((await service.session('one')).requests, 50)
    assert.equal((await service.send(chat, [{ user: 'task' }], { 'x-guard-session-id': 'two' })).status, 200)
  })
  it('max_tokens lets 99,999 recorded tokens of a session pass, and 100,000 not', async () => {
    await using service = await startService({ config: 'default_mode: enforce' })
    service.provider.script(spending(99_999), spending(1))
    for (const task of ['one', 'two']) assert.equal((await ask(service, task)).status, 200)
    assert.deepEqual(decisionOf(await ask(service, 'three')), {
      status: 429,
      decision: 'block',
      reason: 'LIMIT_TOKENS',
    })
  })
  it('hold exactly when requests come at the same time', async () => {
    await using service = await startService({ config: 'default_mode: enforce' })
    await service.policy({ rules: [{ rule_type: 'max_requests', threshold: 7 }] })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(service, `task ${n}`)))
    assert.equal(answers.filter(({ status }) => status === 200).length, 7)
    assert.equal(service.provider.requests.length, 7)
  })
})

describe('8 limits: stored previews', () => {
  const previews = async (service: Service, stream: boolean, user: string) => {
    const answer = await service.send(chat, [{ user }], {}, { stream })
    const row = await service.gateway.gateway.storage.get('calls', answer.headers.get('x-guard-request-id') ?? '')
    return [row?.request_preview ?? '', row?.response_preview ?? ''] as const
  }
  const long = 'word '.repeat(400)

  it('are cut at 500 characters, after redaction', async () => {
    await using service = await startService({ storage: 'full_content_logging: true' })
    service.provider.script({ body: chatReply(false, long).body })
    const [request, response] = await previews(service, false, long)
    assert.deepEqual([request.length, response.length], [500, 500])
    const secret = 'sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz'
    const [told] = await previews(service, false, `${'x'.repeat(480)} password=${secret}`)
    assert.ok(!told.includes('sk-ant') && told.includes('[REDACTED'), told)
  })
  it('of a stream come from its first 1000 bytes', async () => {
    await using service = await startService({ storage: 'full_content_logging: true' })
    const numbered = Array.from({ length: 200 }, (_, n) => `w${n}`).join(' ')
    const body = chatReply(true, numbered).body
    service.provider.script({ body, headers: { 'content-type': 'text/event-stream' } })
    const [, response] = await previews(service, true, 'count')
    assert.ok(response.startsWith('w0 w1 '), response)
    const seen = new Set(body.slice(0, 1000).match(/w\d+/g))
    for (const word of response.match(/w\d+/g) ?? []) assert.ok(seen.has(word), word)
  })
  it('are not kept by default: nothing that was said is stored', async () => {
    await using service = await startService()
    await service.send(chat, [{ user: 'canary-question' }], session)
    const { storage } = service.gateway.gateway
    const stored = await Promise.all([storage.find('calls'), storage.find('sessions'), storage.find('session_events')])
    assert.doesNotMatch(
      JSON.stringify(stored, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
      /canary|Hello there/,
    )
  })
})
