import assert from 'node:assert/strict'
import { it, mock } from 'node:test'
import { decisionOf, startService } from 'guard-gateway/test'
import { sharedMemory } from '../../kit/shared-memory.ts'

const PATH = '/v1/chat/completions'
const chat = (text: string) => ({ model: 'm-1', messages: [{ role: 'user', content: text }] })
const headers = { 'x-guard-session-id': 'mine' }

it('a session that another process changed is read again with one page of calls, and with two once it has blocked ones', async () => {
  const backend = sharedMemory()
  const start = () => startService({ plugins: [backend], backend: 'shared-memory' })
  await using one = await start()
  await using other = await start()
  await one.policy({
    mode: 'enforce',
    rules: [{ id: 'loop', rule_type: 'exact_repeat', action: 'block', threshold: 3, window_size: 10 }],
  })
  const ask = async (service: typeof one, text: string) =>
    decisionOf(await service.request('POST', PATH, chat(text), headers)).decision
  assert.deepEqual([await ask(one, 'a'), await ask(other, 'b')], ['allow', 'allow'])
  const find = mock.method(one.gateway.gateway.storage, 'find')
  const pages = () => find.mock.calls.filter(({ arguments: [table] }) => table === 'calls').length
  assert.deepEqual([await ask(one, 'a'), pages()], ['allow', 1])
  find.mock.resetCalls()
  assert.equal(await ask(other, 'a'), 'block')
  assert.deepEqual([await ask(one, 'c'), pages()], ['allow', 2])
})
