import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Call, Decision } from 'guard-gateway/core'
import { noUsage } from 'guard-gateway/core'
import { keyOf, step, system, user } from '../../kit/conversation.ts'
import { call } from '../../kit/evidence.ts'
import { busy, defaultRules, newSession, startBench } from './kit.ts'

const enforced = async () => startBench({ defaults: defaultRules, default_mode: 'enforce' })
const reasons = (decisions: readonly Decision[]) => decisions.map((one) => one.reason)

/** Sends requests one after another. */
const sendAll = async (
  bench: Awaited<ReturnType<typeof enforced>>,
  calls: readonly Call[],
  over = {},
): Promise<Decision[]> => {
  const decisions: Decision[] = []
  for (const one of calls) decisions.push(await bench.send(one, over))
  return decisions
}

describe('the default rules, enforced', () => {
  it('block the third identical request of eight', async () => {
    const bench = await enforced()
    const session = newSession()
    const one = (text: string) => call({ session, items: [user(text)] })
    const decisions = await sendAll(bench, [one('a'), one('b'), one('a'), one('c'), one('a')])
    assert.deepEqual(reasons(decisions), [null, null, null, null, 'LOOP_EXACT'])
    assert.deepEqual(
      [decisions.at(-1)?.decision, decisions.at(-1)?.status, decisions.at(-1)?.rule_id],
      ['block', 429, 'exact_repeat'],
    )
    assert.equal(
      decisions.at(-1)?.message,
      'Guard blocked this request: 3 identical requests in the last 5. Send a new instruction, or resume the session.',
    )
  })
  it('block the third turn with the same call in a growing history', async () => {
    const bench = await enforced()
    const session = newSession()
    const items = [system('s'), user('fix it')]
    const grown = [0, 1, 2, 3].map((turns) =>
      call({ session, items: [...items, ...Array.from({ length: turns }, () => step('read', { path: 'a' })).flat()] }),
    )
    const decisions = await sendAll(bench, grown)
    assert.deepEqual(reasons(decisions), [null, null, null, 'LOOP_TOOL_CALL'])
    assert.equal(decisions.at(-1)?.matches[0]?.key, keyOf('read', { path: 'a' }))
  })
  it('block unrelated requests with the same call, but not subagents that read one file', async () => {
    const bench = await enforced()
    const once = (session: ReturnType<typeof newSession>, n: number, subagent?: string) => {
      const items = [user(`task ${n}`), ...step('read', { path: 'a' })]
      return call({ session, items, ...(subagent === undefined ? {} : { subagent }) })
    }
    const alone = newSession()
    assert.deepEqual(
      reasons(
        await sendAll(
          bench,
          [1, 2, 3].map((n) => once(alone, n)),
        ),
      ),
      [null, null, 'LOOP_TOOL_CALL'],
    )
    const shared = newSession({ id: 'ses_b' })
    for (const n of [1, 2, 3])
      await bench.send(call({ session: shared, items: [user(`task ${n}`)], subagent: `s${n}` }))
    const reading = await sendAll(
      bench,
      [1, 2, 3].map((n) => once(shared, n, `s${n}`)),
    )
    assert.deepEqual(reasons(reading), [null, null, null])
  })
  it('let five equal errors pass and block the sixth request', async () => {
    const bench = await enforced()
    const session = newSession()
    const calls = Array.from({ length: 6 }, (_, n) => call({ session, items: [user(`${n}`)] }))
    const decisions = await sendAll(bench, calls.slice(0, 5), busy)
    assert.deepEqual(reasons(decisions), [null, null, null, null, null])
    assert.equal(session.row.errors, 5)
    assert.deepEqual(reasons(await sendAll(bench, calls.slice(5))), ['LOOP_ERROR_RETRY'])
  })
  it('block a sequence of four requests at its third repetition', async () => {
    const bench = await enforced()
    const session = newSession()
    const decisions = await sendAll(
      bench,
      [...'abcdabcdabcd'].map((text) => call({ session, items: [user(text)] })),
    )
    assert.deepEqual(
      reasons(decisions).filter((reason) => reason !== null),
      ['LOOP_SEQUENCE'],
    )
    assert.equal(decisions.at(-1)?.reason, 'LOOP_SEQUENCE')
  })
  it('find shorter cycles by their turns', async () => {
    const bench = await enforced()
    const cycle = ['a', 'b', 'a', 'b', 'a', 'b'].flatMap((tool) => step(tool))
    const decision = await bench.send(call({ session: newSession(), items: [user('go'), ...cycle] }))
    assert.deepEqual(
      decision.matches.map((match) => match.code),
      ['LOOP_TOOL_CALL', 'LOOP_SEQUENCE'],
    )
    assert.equal(decision.reason, 'LOOP_TOOL_CALL')
  })
  it('let fifty requests pass and block the fifty-first, whatever it asks', async () => {
    const bench = await enforced()
    const session = newSession()
    const decisions = await sendAll(
      bench,
      Array.from({ length: 51 }, (_, n) => call({ session, items: [user(`${n}`)] })),
      { usage: noUsage },
    )
    assert.deepEqual(
      reasons(decisions.slice(0, 50)).filter((reason) => reason !== null),
      [],
    )
    assert.equal(decisions[50]?.reason, 'LIMIT_REQUESTS')
    assert.deepEqual([session.row.requests, session.row.blocked], [50, 1])
  })
  it('block once 100,000 tokens are recorded', async () => {
    const bench = await enforced()
    const session = newSession()
    const usage = { ...noUsage, input_tokens: 30_000, output_tokens: 20_000, total_tokens: 50_000 }
    const decisions = await sendAll(
      bench,
      ['a', 'b', 'c'].map((text) => call({ session, items: [user(text)] })),
      { usage },
    )
    assert.deepEqual(reasons(decisions), [null, null, 'LIMIT_TOKENS'])
    assert.deepEqual(
      [session.row.input_tokens, session.row.output_tokens, session.row.total_tokens],
      [60_000, 40_000, 100_000],
    )
  })
})

describe('the default rules in shadow', () => {
  it('flag the same requests and forward them', async () => {
    const bench = await startBench({ defaults: defaultRules })
    const session = newSession()
    const decisions = await sendAll(
      bench,
      Array.from({ length: 60 }, () => call({ session, items: [user('a')] })),
      busy,
    )
    assert.ok(decisions.every((one) => one.decision !== 'block'))
    assert.deepEqual([session.row.requests, session.row.flagged, session.row.blocked], [60, 58, 0])
    assert.deepEqual(
      decisions.at(-1)?.matches.map((match) => match.code),
      ['LOOP_EXACT', 'LOOP_ERROR_RETRY', 'LIMIT_REQUESTS'],
    )
  })
})
