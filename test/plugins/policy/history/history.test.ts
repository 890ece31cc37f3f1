import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { History } from '../../../../plugins/policy/history/history.ts'
import { type Item, step, system, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { aRow } from '../../../kit/settled.ts'
import { busy, defaultRules, newSession, restarted, resume, startBench } from '../kit.ts'

const enforced = () => startBench({ defaults: defaultRules, default_mode: 'enforce' })
const begin: Item[] = [system('s'), user('fix it')]
const looped: Item[] = [...begin, ...step('read'), ...step('read'), ...step('read')]

describe('room for histories', () => {
  /** Of one session at a time, since one of them takes more than half of it. */
  const tight = () =>
    startBench({
      defaults: [{ rule_type: 'exact_repeat', threshold: 2 }],
      default_mode: 'enforce',
      history_bytes: 4_000,
    })
  const bytesIn = ({ gateway }: Awaited<ReturnType<typeof tight>>) => gateway.health.get('policy')?.()

  it('evicts the least recently used history, which is read again and judged as before', async () => {
    const bench = await tight()
    const [one, other] = [newSession(), newSession()]
    await bench.send(call({ session: one, items: [user('a')] }))
    assert.ok(one.tips !== undefined)
    assert.deepEqual(bytesIn(bench), { history_bytes: 2_400 })
    await bench.send(call({ session: other, items: [user('a')] }))
    assert.deepEqual([one.tips, one.cleared], [undefined, undefined])
    assert.ok(other.tips !== undefined)
    assert.deepEqual(bytesIn(bench), { history_bytes: 2_400 })
    assert.equal((await bench.send(call({ session: one, items: [user('a')] }))).reason, 'LOOP_EXACT')
    assert.deepEqual([one.row.requests, one.row.blocked], [1, 1])
  })
  it('is never made by a session with a request in progress', async () => {
    const bench = await tight()
    const [one, other] = [newSession(), newSession()]
    const open = call({ session: one, items: [user('a')] })
    const decision = await bench.ask(open)
    await bench.send(call({ session: other, items: [user('a')] }))
    assert.ok(one.tips !== undefined)
    await bench.end(open, decision)
    assert.deepEqual([other.tips, bytesIn(bench)], [undefined, { history_bytes: 2_400 }])
    assert.equal((await bench.send(call({ session: one, items: [user('a')] }))).reason, 'LOOP_EXACT')
  })
  it('counts the turns of a row, and no longer those of rows that are left', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'exact_repeat' }] })
    const session = newSession()
    await bench.send(call({ session, items: looped }))
    assert.deepEqual(bytesIn(bench), { history_bytes: 1_500 + 900 + 300 })
    for (let n = 0; n < 70; n++) await bench.send(call({ session, items: [user(`${n}`)] }))
    assert.deepEqual(bytesIn(bench), { history_bytes: 1_500 + 64 * 900 })
  })
})

describe('a restart', () => {
  it('finds window, errors and totals again', async () => {
    const bench = await enforced()
    const session = newSession()
    for (const text of ['a', 'b', 'a']) await bench.send(call({ session, items: [user(text)] }))
    const later = restarted(session)
    assert.equal((await bench.send(call({ session: later, items: [user('a')] }))).reason, 'LOOP_EXACT')
    for (let n = 0; n < 5; n++) await bench.send(call({ session: later, items: [user(`${n}`)] }), busy)
    assert.equal((await bench.send(call({ session: restarted(later), items: [user('z')] }))).reason, 'LOOP_ERROR_RETRY')
    assert.equal(later.row.requests, 8)
  })
  it('finds blocked rows again', async () => {
    const bench = await enforced()
    const session = newSession()
    const first = await bench.send(call({ session, items: looped }))
    const again = await bench.send(call({ session: restarted(session), items: looped }))
    assert.equal(again.repeats, first.row?.id)
  })
  it('finds what a resume marked', async () => {
    const bench = await enforced()
    const session = newSession()
    const repeated = [...begin, ...step('x')]
    for (const items of [looped, repeated, repeated]) await bench.send(call({ session, items, at: bench.clock.now() }))
    bench.clock.advance(1000)
    resume(session, bench.clock.now())
    const later = restarted(session)
    bench.clock.advance(1000)
    for (const items of [looped, repeated]) {
      assert.equal((await bench.send(call({ session: later, items, at: bench.clock.now() }))).decision, 'allow')
    }
  })
  it('counts an error that came after a resume, whenever its request started', async () => {
    const bench = await enforced()
    const session = newSession()
    const { now } = bench.clock
    const long = call({ session, at: now(), items: [user('long')] })
    const decision = await bench.ask(long)
    bench.clock.advance(1000)
    resume(session, now())
    bench.clock.advance(1000)
    await bench.end(long, decision, busy)
    for (let n = 0; n < 4; n++) await bench.send(call({ session, at: now(), items: [user(`${n}`)] }), busy)
    const next = (within: typeof session) => bench.send(call({ session: within, at: now(), items: [user('z')] }))
    assert.equal((await next(restarted(session))).reason, 'LOOP_ERROR_RETRY')
    assert.equal((await next(session)).reason, 'LOOP_ERROR_RETRY')
  })
  it('reads once, however many requests come first', async () => {
    const bench = await enforced()
    const session = newSession()
    for (const text of ['a', 'a']) await bench.send(call({ session, items: [user(text)] }))
    const later = restarted(session)
    const reads: string[] = []
    const { find } = bench.gateway.storage
    bench.gateway.storage.find = (table, query) => {
      reads.push(table)
      return find(table, query)
    }
    const decisions = await Promise.all([1, 2].map(() => bench.ask(call({ session: later, items: [user('a')] }))))
    assert.deepEqual(
      decisions.map((one) => one.reason),
      ['LOOP_EXACT', 'LOOP_EXACT'],
    )
    assert.deepEqual(reads, ['calls', 'calls'])
  })
  it('asks storage nothing about a session that is new', async () => {
    const bench = await enforced()
    await bench.gateway.hooks.request.promise(call())
    bench.gateway.storage.find = () => assert.fail('storage was read')
    assert.equal((await bench.ask(call({ items: begin }))).decision, 'allow')
  })
})

describe('requests at the same time', () => {
  it('see one another: of two, a limit of one lets one pass', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'max_requests', threshold: 1 }], default_mode: 'enforce' })
    const session = newSession()
    const decisions = await Promise.all([1, 2, 3].map((n) => bench.ask(call({ session, items: [user(`${n}`)] }))))
    assert.deepEqual(decisions.map((one) => one.decision).sort(), ['allow', 'block', 'block'])
  })
  it('hold tokens until they end, where a rule asks for it', async () => {
    const limit = { rule_type: 'max_tokens', threshold: 1000 }
    for (const [params, wanted] of [
      [{ reserve: true }, 'block'],
      [{}, 'allow'],
    ] as const) {
      const bench = await startBench({ defaults: [{ ...limit, params }], default_mode: 'enforce' })
      const session = newSession()
      const first = call({ session, items: [user('a')], envelope: { max_tokens: 1000 } })
      const held = await bench.ask(first)
      assert.ok((held.row?.reserved ?? 0) >= 1000)
      assert.equal((await bench.send(call({ session, items: [user('b')] }))).decision, wanted)
      await bench.end(first, held)
      assert.equal((await bench.send(call({ session, items: [user('c')] }))).decision, 'allow')
    }
  })
})

describe('tokens held', () => {
  it('are let go one request at a time', async () => {
    const defaults = [{ rule_type: 'max_tokens', threshold: 1500, params: { reserve: true } }]
    const bench = await startBench({ defaults, default_mode: 'enforce' })
    const session = newSession()
    const ask = async (text: string) => {
      const one = call({ session, items: [user(text)], envelope: { max_tokens: 1000 } })
      return [one, await bench.ask(one)] as const
    }
    const first = await ask('a')
    const second = await ask('b')
    const third = await ask('c')
    assert.deepEqual([first[1].decision, second[1].decision, third[1].decision], ['allow', 'allow', 'block'])
    await bench.end(...first)
    assert.equal((await ask('d'))[1].decision, 'allow')
  })
})

describe('what a session remembers', () => {
  it('is the last rows after a resume, and no more than came after it', () => {
    const history = new History(newSession())
    history.append(aRow({ id: 'before' }))
    history.clear()
    for (let n = 0; n < 20; n++) history.append(aRow({ id: `blocked ${n}`, decision: 'block' }))
    assert.deepEqual([history.rows.length, history.fresh, history.rows.at(-1)?.id], [17, 16, 'before'])
  })
  it('is as many rows, outcomes and calls as it may be', () => {
    const history = new History(newSession())
    for (let n = 0; n < 600; n++) {
      const row = aRow({ id: `${n}` })
      history.append(row)
      history.ended({ id: row.id, ended_at: n, outcome: 'ok', error_fingerprint: null })
      history.replies(`call_${n}`, { tool: 't', key: 'k', effect: null })
    }
    assert.deepEqual([history.rows.length, history.window.length, history.outcomes.length], [64, 64, 64])
    assert.deepEqual([history.replied.size, history.replied.has('call_87')], [512, false])
  })
})
