import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { History } from '../../../plugins/policy/history/history.ts'
import { step, user } from '../../kit/conversation.ts'
import { call } from '../../kit/evidence.ts'
import { aRow } from '../../kit/settled.ts'
import { busy, defaultRules, newSession, resume, startBench } from './kit.ts'

const enforced = () => startBench({ defaults: defaultRules, default_mode: 'enforce' })

describe('another attempt of a request', () => {
  it('takes no place, and is judged as its original was', async () => {
    const bench = await startBench({
      defaults: [{ rule_type: 'exact_repeat' }, { rule_type: 'max_requests', threshold: 5 }],
    })
    const session = newSession()
    const send = (retry = false) => bench.send(call({ session, items: [user('a')], retry }))
    assert.equal((await send()).decision, 'allow')
    assert.deepEqual([(await send(true)).decision, (await send(true)).decision], ['allow', 'allow'])
    assert.equal((await send()).decision, 'allow')
    assert.equal((await send()).reason, 'LOOP_EXACT')
    const last = await send(true)
    assert.deepEqual(
      last.matches.map((match) => match.code),
      ['LOOP_EXACT', 'LIMIT_REQUESTS'],
    )
    assert.equal(last.row?.retry, true)
    assert.equal(session.row.requests, 6)
  })
  it('parts no history that is one conversation', () => {
    const history = new History(newSession())
    const first = aRow({ id: 'one', items: 1, chain_tip: 'a', parent: null })
    history.append(first)
    history.append({ ...first, id: 'two', parent: 'one', retry: true })
    history.append(aRow({ id: 'three', items: 3, chain_tip: 'b', parent: 'one' }))
    assert.equal(history.linear, true)
    history.append(aRow({ id: 'four', items: 5, chain_tip: 'c', parent: 'one' }))
    assert.equal(history.linear, false)
  })
  it('is not what a request continues from: that is the request that it is an attempt of', async () => {
    const bench = await startBench()
    const session = newSession()
    const first = await bench.send(call({ session, items: [user('a')] }), busy)
    await bench.send(call({ session, items: [user('a')], retry: true }))
    const next = await bench.send(call({ session, items: [user('a'), ...step('read')] }))
    assert.equal(next.row?.parent, first.row?.id)
  })
  it('is judged again after a resume', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'exact_repeat', threshold: 1 }] })
    const session = newSession()
    const send = (retry = false) => bench.send(call({ session, items: [user('a')], retry }))
    assert.equal((await send()).decision, 'shadow_flag')
    assert.equal((await send(true)).decision, 'shadow_flag')
    resume(session, bench.clock.now())
    assert.equal((await send(true)).decision, 'allow')
  })
  it('does not lift a block, and is not made without end', async () => {
    const { send, clock } = await startBench({ defaults: [{ rule_type: 'exact_repeat' }], default_mode: 'enforce' })
    const session = newSession()
    const reasons = async (times: number, retry: boolean) => {
      const found = new Set<string | null>()
      for (let n = 0; n < times; n++) {
        clock.advance(1000)
        found.add((await send(call({ session, items: [user('a')], at: clock.now(), retry }))).reason)
      }
      return [...found]
    }
    assert.deepEqual(await reasons(3, false), [null, 'LOOP_EXACT'])
    assert.deepEqual(await reasons(3, true), ['LOOP_EXACT'])
    clock.advance(1000)
    resume(session, clock.now())
    // the block that follows is counted on the row of the one before
    assert.deepEqual(await reasons(3, false), [null, 'LOOP_EXACT'])
    assert.deepEqual(await reasons(3, true), ['LOOP_EXACT'])
    clock.advance(1000)
    resume(session, clock.now())
    assert.deepEqual(await reasons(20, true), [null])
    assert.deepEqual(await reasons(20, true), ['LOOP_EXACT'])
  })
  it('counts towards the error streak, since each attempt is answered', async () => {
    const bench = await enforced()
    const session = newSession()
    for (let n = 0; n < 5; n++) await bench.send(call({ session, items: [user('a')], retry: n > 0 }), busy)
    assert.equal((await bench.send(call({ session, items: [user('a')], retry: true }))).reason, 'LOOP_ERROR_RETRY')
  })
})
