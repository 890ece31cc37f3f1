import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ReadMessage } from '../../kit/socket-client.ts'
import { startSocketService, until } from './kit.ts'

const idOf = (end: ReadMessage): string => (end.response as { id: string }).id
const refusalOf = (message: ReadMessage) => {
  const { status, error } = message as unknown as { status: number; error: { code: string } }
  return [message.type, status, error.code]
}

describe('a response that nobody has asked for', () => {
  it('follows user input for a running one, and has a row of its own in its thread', async () => {
    await using service = await startSocketService()
    const client = await service.connect({ 'x-guard-session-id': 's' })
    const end = Promise.withResolvers<void>()
    service.provider.script({ until: end.promise })
    client.create('one', { stream_id: 'main' })
    const first = idOf(await client.next())
    const steer = { type: 'response.steer', previous_response_id: first, input: [{ role: 'user', content: 'Stop' }] }
    client.send(steer)
    await until(() => service.provider.last.received.length === 2)
    // it is under way whatever the rules say by now
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'max_requests', threshold: 1 }] })
    end.resolve()
    const [ended, successor] = [await client.end(), await client.end()]
    assert.deepEqual([ended.type, successor.type], ['response.incomplete', 'response.completed'])
    await until(async () => (await service.calls()).length === 2)
    const calls = await service.calls()
    assert.deepEqual(
      calls.map(({ decision, outcome, total_tokens, stream_id }) => ({ decision, outcome, total_tokens, stream_id })),
      [
        { decision: 'allow', outcome: 'ok', total_tokens: 8, stream_id: 'main' },
        { decision: 'allow', outcome: 'ok', total_tokens: 25, stream_id: 'main' },
      ],
    )
    assert.equal(calls[1]?.thread, calls[0]?.thread)
    const { json } = await service.gateway.request('GET', '/api/sessions/s/events?order=asc')
    assert.match(JSON.stringify(json), /"unasked":true/)
  })
})

describe('user input for a running response', () => {
  it('is not passed on once a budget is used up', async () => {
    await using service = await startSocketService()
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'max_tokens', threshold: 25 }] })
    const client = await service.connect({ 'x-guard-session-id': 's' })
    client.create('one')
    const previous_response_id = idOf(await client.end())
    client.send({ type: 'response.steer', previous_response_id, input: [{ role: 'user', content: 'More' }] })
    const refused = await client.next()
    assert.deepEqual(refusalOf(refused), ['error', 429, 'STEER_BUDGET'])
    assert.equal((refused.error as { rule_id: string }).rule_id, 'max_tokens')
    assert.equal(service.provider.last.received.length, 1)
  })
})

describe('a session that begins over a WebSocket', () => {
  it('goes on over HTTP in the same thread', async () => {
    await using service = await startSocketService()
    const client = await service.connect({ 'x-guard-session-id': 's' })
    const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one' }] }
    client.create([user])
    const end = await client.end()
    const { output } = end.response as { output: object[] }
    const next = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'two' }] }
    client.create([next], { previous_response_id: idOf(end) })
    const second = await client.end()
    const all = [
      user,
      ...output,
      next,
      ...(second.response as { output: object[] }).output,
      { ...next, content: 'three' },
    ]
    await service.gateway.request('POST', '/v1/responses', { model: 'm-1', input: all }, { 'x-guard-session-id': 's' })
    const calls = await service.calls()
    assert.equal(calls.length, 3)
    assert.deepEqual([...new Set(calls.map(({ thread }) => thread))].length, 1)
  })
})
