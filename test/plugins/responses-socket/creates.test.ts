import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startSocketService } from './kit.ts'

it('passes three chained turns, each on record as a request of its own', async () => {
  await using service = await startSocketService()
  const client = await service.connect({ 'x-guard-session-id': 'chain' })
  let previous_response_id: string | undefined
  for (const input of ['one', 'two', 'three']) {
    client.create(input, previous_response_id === undefined ? {} : { previous_response_id })
    const end = await client.end()
    assert.equal(end.type, 'response.completed')
    previous_response_id = (end.response as { id: string }).id
  }
  const calls = await service.calls()
  assert.deepEqual(
    calls.map(({ outcome, status, total_tokens, usage_source, stream }) => ({
      outcome,
      status,
      total_tokens,
      usage_source,
      stream,
    })),
    Array(3).fill({ outcome: 'ok', status: 200, total_tokens: 25, usage_source: 'reported', stream: true }),
  )
  assert.equal((await service.session('chain')).requests, 3)
})

it('answers a loop with an error event, and nothing of it goes up', async () => {
  await using service = await startSocketService()
  await service.policy({ mode: 'enforce', rules: [{ rule_type: 'exact_repeat', threshold: 3 }] })
  const client = await service.connect({ 'x-guard-session-id': 'loop' })
  for (let turn = 0; turn < 2; turn++) {
    client.create('again')
    assert.equal((await client.end()).type, 'response.completed')
  }
  client.create('again', { stream_id: 'main' })
  const block = await client.next()
  const { id } = await service.session('loop')
  const { error, headers, ...rest } = block as unknown as { error: object; headers: object }
  assert.deepEqual(rest, { type: 'error', status: 429, sequence_number: 0, stream_id: 'main' })
  assert.deepEqual(
    { ...error, message: '' },
    {
      type: 'guard_block',
      code: 'LOOP_EXACT',
      message: '',
      session_id: id,
      rule_id: 'exact_repeat',
      param: null,
    },
  )
  assert.deepEqual(
    { ...headers, 'x-request-id': '' },
    {
      'x-request-id': '',
      'x-should-retry': 'false',
      'x-guard-decision': 'block',
      'x-guard-reason': 'LOOP_EXACT',
      'x-guard-session-id': id,
    },
  )
  assert.equal(service.provider.creates.length, 2)
  client.create('something else')
  assert.equal((await client.end()).type, 'response.completed')
})
