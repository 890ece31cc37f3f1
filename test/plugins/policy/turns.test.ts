import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Row } from 'guard-gateway/core'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { newTurnsOf } from '#lib/trace'
import { type Item, result, step, system, user } from '../../kit/conversation.ts'
import { call } from '../../kit/evidence.ts'
import { aReading } from '../../kit/settled.ts'
import { newSession, restarted, startBench } from './kit.ts'

const begin: Item[] = [system('s'), user('fix it')]

describe('turns of a history that nobody had seen before', () => {
  const said: Item[] = [...begin, ...step('read', 'a'), user('go on'), ...step('read', 'b'), ...step('read', 'c')]
  const shown = ({ new_turns }: Pick<Row, 'new_turns'>) =>
    new_turns.map(({ calls, user_after }) => [calls.length, user_after])
  const all = [
    [1, true],
    [1, false],
    [1, false],
  ]

  it('are on record with their calls; only those of the last one stay in memory', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'exact_repeat' }] })
    const session = newSession()
    const asked = call({ session, items: said })
    const decision = await bench.ask(asked)
    assert.ok(decision.row !== null)
    assert.deepEqual(shown(decision.row), all)
    await bench.end(asked, decision)
    assert.deepEqual(shown(decision.row), [
      [0, true],
      [0, false],
      [1, false],
    ])
    const [record] = (await bench.gateway.storage.find('calls')).rows
    assert.deepEqual(shown({ new_turns: record === undefined ? [] : newTurnsOf(record) }), all)
  })
  it('stay whole where a later request may continue from the reply', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'exact_repeat' }] }, [responses])
    const asked = { ...call({ session: newSession(), items: said }), style: 'responses' }
    const { row } = await bench.send(asked)
    assert.ok(row !== null)
    assert.deepEqual(shown(row), all)
  })
  it('are back once a later request may continue from a reply to the same history', async () => {
    for (const again of [said, [system('another'), ...said.slice(1)]]) {
      const bench = await startBench({ defaults: [{ rule_type: 'exact_repeat' }] }, [responses])
      const session = newSession()
      const { row } = await bench.send(call({ session, items: said }))
      assert.ok(row !== null)
      const next = call({ session, items: [...again, ...step('read', 'd')], over: { style: 'responses' } })
      await bench.send(next)
      assert.deepEqual(shown(row), all)
      const whole = next.conversation.turns.slice(0, 3)
      assert.deepEqual(row.new_turns, whole)
      assert.deepEqual(bench.gateway.health.get('policy')?.(), { history_bytes: 1_500 + 2 * 900 + 4 * 300 })
    }
  })
  it('count where a conversation continues in another style, and there by the id of a reply', async () => {
    for (const isRestarted of [false, true]) {
      const bench = await startBench({ defaults: [{ rule_type: 'tool_repeat' }], default_mode: 'enforce' }, [responses])
      const session = newSession()
      const same = () => step('read', 'same')
      const items = [...begin, ...same(), ...same(), ...step('write')]
      await bench.send(call({ session, items }))
      const within = isRestarted ? restarted(session) : session
      const style = 'responses'
      const read = { id: 'call_z', tool: 'read', args: 'same' }
      await bench.send(call({ session: within, items: [...items, user('go on')], over: { style } }), {
        reading: aReading({ response_id: 'resp_1', calls: [read] }),
      })
      const envelope = { previous_response_id: 'resp_1' }
      const { reason } = await bench.send(
        call({ session: within, items: [result('call_z', 'done')], envelope, over: { style } }),
      )
      assert.equal(reason, 'LOOP_TOOL_CALL', `restarted: ${isRestarted}`)
    }
  })
  it('stay whole where they come after what is known', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'exact_repeat' }] })
    const session = newSession()
    await bench.send(call({ session, items: [...begin, ...step('write')] }))
    const { row } = await bench.send(call({ session, items: [...begin, ...step('write'), ...said.slice(2)] }))
    assert.ok(row !== null)
    assert.deepEqual(shown(row), all)
  })
})
