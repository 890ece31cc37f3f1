import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Rule, Session } from 'guard-gateway/core'
import { type Item, step, system, user } from '../../kit/conversation.ts'
import { call } from '../../kit/evidence.ts'
import { always, busy, defaultRules, detecting, newSession, restarted, resume, startApi, startBench } from './kit.ts'

const enforced = () => startBench({ defaults: defaultRules, default_mode: 'enforce' })
const begin: Item[] = [system('s'), user('fix it')]
const looped: Item[] = [...begin, ...step('read'), ...step('read'), ...step('read')]

describe('a blocked request that is sent again', () => {
  it('is the same refusal: the first row counts it', async () => {
    const bench = await enforced()
    const session = newSession()
    const first = await bench.send(call({ session, items: looped }))
    const ended = first.row?.ended_at
    bench.clock.advance(1000)
    const again = await bench.send(call({ session, items: looped }))
    const third = await bench.send(call({ session, items: looped }))
    assert.equal(first.repeats, null)
    assert.deepEqual([again.repeats, third.repeats], [first.row?.id, first.row?.id])
    assert.equal(first.row?.retries, 2)
    assert.equal(session.row.blocked, 1)
    assert.deepEqual([first.row?.outcome, first.row?.ended_at], ['blocked', ended])
    assert.equal((await bench.gateway.storage.find('calls')).rows.length, 1)
  })
  it('is another one if the request, the rule or its reason differs', async () => {
    const other = detecting('other', () => 'I do not like it')
    const { send, put } = await startApi({}, [other])
    const session = newSession()
    const repeats = async (rule: Partial<Rule>, extra = '') => {
      await put({ mode: 'enforce', rules: [rule] })
      return (await send(call({ session, items: looped, extra }))).repeats
    }
    assert.equal(await repeats(always('r')), null)
    assert.equal(await repeats(always('r'), 'other tools'), null)
    assert.equal(await repeats(always('s')), null)
    assert.equal(await repeats(always('r', { rule_type: 'other' })), null)
    assert.notEqual(await repeats(always('r')), null)
    assert.equal(session.row.blocked, 4)
  })
  it('counts a pause that is knocked at once, too', async () => {
    const bench = await enforced()
    const session = newSession({ paused: true })
    const first = await bench.send(call({ session, items: begin }))
    assert.equal((await bench.send(call({ session, items: begin }))).repeats, first.row?.id)
    assert.equal(session.row.blocked, 1)
  })
  it('is forgotten after sixteen others', async () => {
    const bench = await enforced()
    const session = newSession()
    for (let n = 0; n <= 16; n++) await bench.send(call({ session, items: looped, extra: `${n}` }))
    assert.notEqual((await bench.send(call({ session, items: looped, extra: '1' }))).repeats, null)
    assert.equal((await bench.send(call({ session, items: looped, extra: '0' }))).repeats, null)
  })
  it('takes no place in a window', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'exact_repeat', threshold: 2 }], default_mode: 'enforce' })
    const session = newSession({ paused: true })
    await bench.send(call({ session, items: begin }))
    session.row.paused = false
    assert.equal((await bench.send(call({ session, items: begin }))).decision, 'allow')
  })
})

describe('ways out of a loop', () => {
  it('is a new user message', async () => {
    const bench = await enforced()
    const session = newSession()
    await bench.send(call({ session, items: looped }))
    assert.equal((await bench.send(call({ session, items: [...looped, user('look elsewhere')] }))).decision, 'allow')
  })
  it('is one where calls before it do not count, also after a restart', async () => {
    const rules = [{ rule_type: 'tool_repeat', params: { reset_on_user_message: true } }]
    const bench = await startBench({ defaults: rules, default_mode: 'enforce' })
    const twice = [...begin, ...step('read'), ...step('read')]
    const said = [...twice, user('look again')]
    for (const again of [(session: Session) => session, restarted]) {
      const session = newSession({ id: `ses_${again.name}` })
      for (const items of [twice.slice(0, 4), twice, said]) await bench.send(call({ session, items }))
      const items = [...said, ...step('read')]
      assert.equal((await bench.send(call({ session: again(session), items }))).decision, 'allow')
    }
  })
  it('is a different call', async () => {
    const bench = await enforced()
    const decision = await bench.send(call({ session: newSession(), items: [...looped, ...step('write')] }))
    assert.equal(decision.decision, 'allow')
  })
  it('is a resume, for the history as it is', async () => {
    const bench = await enforced()
    const session = newSession()
    await bench.send(call({ session, items: looped }))
    resume(session, bench.clock.now())
    assert.equal((await bench.send(call({ session, items: looped }))).decision, 'allow')
    const again = [...looped, ...step('read')]
    assert.equal((await bench.send(call({ session, items: again }))).decision, 'allow')
    const more = [...again, ...step('read'), ...step('read')]
    assert.equal((await bench.send(call({ session, items: more }))).reason, 'LOOP_TOOL_CALL')
  })
  it('is a resume, for windows and error streaks, but not for budgets', async () => {
    const bench = await startBench({
      defaults: [
        { rule_type: 'exact_repeat' },
        { rule_type: 'error_retry' },
        { rule_type: 'max_requests', threshold: 6 },
      ],
      default_mode: 'enforce',
    })
    const session = newSession()
    for (const text of ['a', 'a', 'b', 'c', 'd']) await bench.send(call({ session, items: [user(text)] }), busy)
    assert.equal((await bench.send(call({ session, items: [user('a')] }))).reason, 'LOOP_EXACT')
    resume(session, bench.clock.now())
    assert.equal((await bench.send(call({ session, items: [user('a')] }))).decision, 'allow')
    assert.equal((await bench.send(call({ session, items: [user('z')] }))).reason, 'LIMIT_REQUESTS')
  })
})

describe('an error streak', () => {
  const ask = (session: Session, n: number, at: number) => call({ session, at, items: [user(`${n}`)] })
  /** Five errors, while a long request is in progress. */
  const broken = async () => {
    const bench = await enforced()
    const session = newSession()
    await bench.ask(ask(session, 99, bench.clock.now()))
    for (let n = 0; n < 5; n++) await bench.send(ask(session, n, bench.clock.now()), busy)
    return { ...bench, session, next: (n: number) => ask(session, n, bench.clock.now()) }
  }
  it('lets one request pass as a probe after the cool-down, and no other before it has ended', async () => {
    const { clock, send, ask, end, next } = await broken()
    assert.equal((await send(next(5))).decision, 'block')
    clock.advance(60_000)
    const probing = next(6)
    const probe = await ask(probing)
    assert.deepEqual([probe.decision, probe.reason, probe.probe], ['shadow_flag', 'LOOP_ERROR_RETRY', true])
    const other = await send(next(7))
    assert.deepEqual([other.decision, other.probe], ['block', false])
    await end(probing, probe)
    assert.equal((await send(next(8))).decision, 'allow')
  })
  it('starts its cool-down again when the probe fails, too', async () => {
    const { clock, send, next } = await broken()
    clock.advance(60_000)
    assert.equal((await send(next(5), busy)).probe, true)
    clock.advance(59_000)
    assert.equal((await send(next(6))).decision, 'block')
    clock.advance(1000)
    assert.equal((await send(next(7))).probe, true)
  })
  it('lets another request probe when the client left the first', async () => {
    const { clock, send, next } = await broken()
    clock.advance(60_000)
    await send(next(5), { outcome: 'client_aborted', status: 0 })
    assert.equal((await send(next(6))).probe, true)
  })
  it('does not wait for a probe that nobody will end', async () => {
    const { clock, session, send, ask, next } = await broken()
    clock.advance(60_000)
    await ask(next(5))
    session.open = 0
    assert.equal((await send(next(6))).probe, true)
  })
  it('is one of equal errors only', async () => {
    const bench = await enforced()
    const session = newSession()
    for (let n = 0; n < 8; n++) {
      const error = { type: 'api_error', code: null, message: n % 2 === 0 ? 'even' : 'odd' }
      assert.equal((await bench.send(ask(session, n, bench.clock.now()), { ...busy, error })).decision, 'allow')
    }
  })
  it('is also made of replies that broke off, and of upstreams out of reach', async () => {
    for (const ending of [
      { outcome: 'truncated', status: 200 },
      { outcome: 'unreachable', status: 502 },
    ] as const) {
      const bench = await enforced()
      const session = newSession()
      for (let n = 0; n < 5; n++) await bench.send(ask(session, n, bench.clock.now()), ending)
      assert.equal((await bench.send(ask(session, 5, bench.clock.now()))).reason, 'LOOP_ERROR_RETRY', ending.outcome)
      assert.equal(session.row.errors, 5)
    }
  })
})
