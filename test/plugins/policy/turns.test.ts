import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newTurnsOf, type Row } from 'guard-gateway/core'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { type Item, step, system, user } from '../../kit/conversation.ts'
import { call } from '../../kit/evidence.ts'
import { newSession, startBench } from './kit.ts'

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
  it('stay whole where a later request may go on from the reply', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'exact_repeat' }] }, [responses])
    const asked = { ...call({ session: newSession(), items: said }), style: 'responses' }
    const { row } = await bench.send(asked)
    assert.ok(row !== null)
    assert.deepEqual(shown(row), all)
  })
  it('stay whole where they come behind what is known', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'exact_repeat' }] })
    const session = newSession()
    await bench.send(call({ session, items: [...begin, ...step('write')] }))
    const { row } = await bench.send(call({ session, items: [...begin, ...step('write'), ...said.slice(2)] }))
    assert.ok(row !== null)
    assert.deepEqual(shown(row), all)
  })
})
