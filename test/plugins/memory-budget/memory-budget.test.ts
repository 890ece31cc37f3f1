import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { memoryBudget } from 'guard-gateway/plugins/memory-budget'
import { step, system, user } from '../../kit/conversation.ts'
import { call } from '../../kit/evidence.ts'
import { defaultRules, newSession, startBench } from '../policy/kit.ts'

const begin = [system('s'), user('fix it')]
const looped = [...begin, ...step('read'), ...step('read'), ...step('read')]

/** A gateway whose stores share so many bytes. */
const startWith = (budget_bytes: number) =>
  startBench({ defaults: defaultRules, default_mode: 'enforce' }, [memoryBudget({ budget_bytes })])

describe('a memory budget of one byte', () => {
  it('evicts the history of each other session, and loops are found all the same', async () => {
    const bench = await startWith(1)
    const [one, other] = [newSession(), newSession()]
    for (let n = 0; n < 2; n++) {
      assert.equal((await bench.send(call({ session: one, items: [user('again')] }))).decision, 'allow')
      await bench.send(call({ session: other, items: [user(`${n}`)] }))
      assert.equal(one.tips, undefined)
    }
    assert.equal((await bench.send(call({ session: one, items: [user('again')] }))).reason, 'LOOP_EXACT')
    const third = newSession()
    assert.equal((await bench.send(call({ session: third, items: looped }))).reason, 'LOOP_TOOL_CALL')
    assert.deepEqual(bench.faults, [])
    await bench.gateway.close()
  })
})

describe('a gateway that is not used', () => {
  it('empties its histories, finds loops afterwards, and tells what it holds', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const bench = await startWith(1_000_000)
      const session = newSession()
      for (let n = 0; n < 2; n++) await bench.send(call({ session, items: [user('again')] }))
      const health = () => bench.gateway.health.get('memory')?.() as Record<string, number>
      const { histories_bytes = 0, held_bytes = 0, budget_bytes } = health()
      assert.ok(histories_bytes > 2_000 && held_bytes >= histories_bytes)
      assert.equal(budget_bytes, 1_000_000)
      for (let look = 0; look < 5; look++) mock.timers.tick(30_000)
      assert.deepEqual([health().histories_bytes, session.tips], [0, undefined])
      assert.equal((await bench.send(call({ session, items: [user('again')] }))).reason, 'LOOP_EXACT')
      await bench.gateway.close()
    } finally {
      mock.timers.reset()
    }
  })
})
