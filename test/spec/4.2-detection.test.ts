import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dialectOf, looping, productive } from '../kit/dialogue.ts'
import { decisionOf, errorOf, type Service, startService } from '../kit/service.ts'

const chat = dialectOf('chat_completions')
const failing = { status: 500, body: '{"error":{"type":"server_error","message":"broken"}}' }
const session = { 'x-guard-session-id': 'one' }

/** Traffic that matches a rule for the first time with its last request. */
const provocations: Readonly<Record<string, (service: Service) => Promise<Awaited<ReturnType<Service['send']>>[]>>> = {
  LOOP_EXACT: async (service) => repeat(3, () => service.send(chat, [{ user: 'same' }], session)),
  LOOP_TOOL_CALL: async (service) => [
    ...(await repeat(2, (n) => service.send(chat, looping(n), session))),
    await service.send(chat, looping(3), session),
  ],
  LOOP_ERROR_RETRY: async (service) => {
    service.provider.script(...Array.from({ length: 5 }, () => failing))
    return repeat(6, (n) => service.send(chat, [{ user: `try ${n}` }], session))
  },
  // four requests in turn reach no other rule: each appears twice in a window of eight before its third time
  LOOP_SEQUENCE: async (service) => repeat(12, (n) => service.send(chat, [{ user: `step ${n % 4}` }], session)),
  LIMIT_REQUESTS: async (service) => repeat(51, (n) => service.send(chat, productive(n), session)),
  LIMIT_TOKENS: async (service) => {
    const usage = { prompt_tokens: 99_000, completion_tokens: 1_000, total_tokens: 100_000 }
    service.provider.script({ body: JSON.stringify({ choices: [], usage }) })
    return repeat(2, (n) => service.send(chat, [{ user: `big ${n}` }], session))
  },
}

const repeat = async <T>(times: number, work: (n: number) => Promise<T>): Promise<T[]> => {
  const results: T[] = []
  for (let n = 0; n < times; n++) results.push(await work(n))
  return results
}

const ruleOf: Readonly<Record<string, string>> = {
  LOOP_EXACT: 'exact_repeat',
  LOOP_TOOL_CALL: 'tool_repeat',
  LOOP_ERROR_RETRY: 'error_retry',
  LOOP_SEQUENCE: 'sequence_repeat',
  LIMIT_REQUESTS: 'max_requests',
  LIMIT_TOKENS: 'max_tokens',
}

describe('4.2 model proxy: detection rules with their defaults', () => {
  for (const [code, provoke] of Object.entries(provocations)) {
    it(`${code}: in shadow mode the request is flagged, recorded and still forwarded`, async () => {
      await using service = await startService()
      const answers = await provoke(service)
      const last = answers.pop()
      assert.ok(last)
      for (const answer of answers) assert.equal(decisionOf(answer).reason, null)
      assert.deepEqual(decisionOf(last), { status: 200, decision: 'shadow_flag', reason: code })
      assert.equal(service.provider.requests.length, answers.length + 1)
      const event = (await service.events('one')).at(-1)
      assert.deepEqual(
        [
          event?.attributes.decision,
          event?.attributes.reason_code,
          event?.attributes.rule_id,
          event?.attributes.forwarded,
        ],
        ['shadow_flag', code, ruleOf[code], true],
      )
      assert.equal(event?.request_id, last.headers.get('x-guard-request-id'))
    })
    it(`${code}: in enforce mode the request is blocked with 429, recorded and not forwarded`, async () => {
      await using service = await startService({ config: 'default_mode: enforce' })
      const answers = await provoke(service)
      const last = answers.pop()
      assert.ok(last)
      for (const answer of answers) assert.equal(decisionOf(answer).decision, 'allow')
      assert.deepEqual(decisionOf(last), { status: 429, decision: 'block', reason: code })
      assert.equal(service.provider.requests.length, answers.length)
      const { session_id, rule_id, type, message } = errorOf(last)
      assert.deepEqual(
        [session_id, rule_id, type],
        [last.headers.get('x-guard-session-id'), ruleOf[code], 'guard_block'],
      )
      assert.ok(String(message).length > 20)
      const event = (await service.events('one')).at(-1)
      assert.deepEqual([event?.attributes.decision, event?.attributes.forwarded], ['block', false])
      assert.equal((await service.session('one')).blocked, 1)
    })
  }
  it('the mode of a project comes before the default mode', async () => {
    await using service = await startService({ config: 'default_mode: enforce' })
    await service.policy({ mode: 'shadow' })
    const last = (await provocations.LOOP_EXACT?.(service))?.at(-1)
    assert.ok(last)
    assert.equal(decisionOf(last).decision, 'shadow_flag')
  })
  it('the mode header is refused when it names no mode', async () => {
    await using service = await startService()
    const answer = await service.send(chat, [{ user: 'hi' }], { 'x-guard-mode': 'strict' })
    assert.deepEqual([answer.status, errorOf(answer).code], [400, 'INVALID_HEADER'])
  })
  it('a repeat outside the window does not count', async () => {
    await using service = await startService()
    const word = 'abcdefgahbcdeia'
    for (const letter of word) {
      const answer = await service.send(chat, [{ user: letter }], session)
      assert.equal(decisionOf(answer).reason, null)
    }
  })
})
