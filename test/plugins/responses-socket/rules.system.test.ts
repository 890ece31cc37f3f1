import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ReadMessage } from '../../kit/socket-client.ts'
import { startSocketService } from './kit.ts'

const exact = { rule_type: 'exact_repeat', threshold: 3 }
const idOf = (end: ReadMessage): string => (end.response as { id: string }).id
const refusalOf = (message: ReadMessage) => {
  const { status, error } = message as unknown as { status: number; error: { code: string } }
  return [message.type, status, error.code]
}

describe('a loop over a WebSocket', () => {
  it('of equal requests adds nothing to the stream in shadow mode, and is flagged', async () => {
    await using service = await startSocketService()
    await service.policy({ mode: 'shadow', rules: [exact] })
    const client = await service.connect({ 'x-guard-session-id': 'shadow' })
    for (let turn = 0; turn < 4; turn++) {
      client.create('again')
      assert.deepEqual((await client.response()).map(({ type }) => type).slice(-2), [
        'response.output_item.done',
        'response.completed',
      ])
    }
    assert.deepEqual(
      (await service.calls()).map(({ decision }) => decision),
      ['allow', 'allow', 'shadow_flag', 'shadow_flag'],
    )
  })
  it('of tool calls along a chain is stopped at the same turn as over HTTP', async () => {
    await using service = await startSocketService()
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'tool_repeat', threshold: 3 }] })
    const call = { name: 'read_file', arguments: '{"path":"a"}' }
    const client = await service.connect({ 'x-guard-session-id': 'socket' })
    let stopped = 0
    let before: object = {}
    let input: unknown = 'Look'
    for (let turn = 1; turn <= 6 && stopped === 0; turn++) {
      service.provider.script({ call })
      client.create(input, before)
      const end = await client.end()
      if (end.type === 'error') {
        assert.deepEqual(refusalOf(end), ['error', 429, 'LOOP_TOOL_CALL'])
        stopped = turn
      } else {
        before = { previous_response_id: idOf(end) }
        input = [{ type: 'function_call_output', call_id: `call_${idOf(end)}`, output: 'the same' }]
      }
    }
    const history: object[] = [{ role: 'user', content: 'Look' }]
    let overHttp = 0
    for (let turn = 1; turn <= 6 && overHttp === 0; turn++) {
      const answer = await service.gateway.request(
        'POST',
        '/v1/responses',
        { model: 'm-1', input: history },
        { 'x-guard-session-id': 'http' },
      )
      if (answer.status === 429) overHttp = turn
      history.push(
        { type: 'function_call', call_id: `c${turn}`, ...call },
        { type: 'function_call_output', call_id: `c${turn}`, output: 'the same' },
      )
    }
    assert.ok(stopped > 0)
    assert.equal(stopped, overHttp)
  })
  it('of results that bring nothing new is told of at the same turn as over HTTP, and goes on', async () => {
    await using service = await startSocketService()
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'novelty_stall', threshold: 4 }] })
    const call = { name: 'run', arguments: '{"command":"true"}' }
    const client = await service.connect({ 'x-guard-session-id': 'socket' })
    const history: object[] = [{ role: 'user', content: 'Go' }]
    let input: unknown = history
    let before: object = {}
    for (let turn = 1; turn <= 12; turn++) {
      service.provider.script({ call })
      client.create(input, before)
      const end = await client.end()
      assert.equal(end.type, 'response.completed')
      before = { previous_response_id: idOf(end) }
      input = [{ type: 'function_call_output', call_id: `call_${idOf(end)}`, output: 'nothing to do' }]
      const body = { model: 'm-1', input: history }
      const { status } = await service.gateway.request('POST', '/v1/responses', body, { 'x-guard-session-id': 'http' })
      assert.notEqual(status, 429)
      history.push(
        { type: 'function_call', call_id: `c${turn}`, ...call },
        { type: 'function_call_output', call_id: `c${turn}`, output: 'nothing to do' },
      )
    }
    const decisions = new Map<string | null, string[]>()
    for (const { session_id, decision } of await service.calls())
      decisions.set(session_id, [...(decisions.get(session_id) ?? []), decision])
    const [one, other] = [...decisions.values()]
    assert.deepEqual(one, other)
    assert.ok(one?.includes('shadow_flag'))
  })
  it('is refused with the status that its client understands, by the user agent of the handshake', async () => {
    await using service = await startSocketService({ config: 'server: { block_status_override: { "codex*": 400 } }' })
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'exact_repeat', threshold: 2 }] })
    const client = await service.connect({ 'user-agent': 'codex_cli_rs/1', 'x-guard-session-id': 's' })
    client.create('again')
    await client.end()
    client.create('again')
    assert.deepEqual(refusalOf(await client.end()), ['error', 400, 'LOOP_EXACT'])
    assert.equal((await service.calls()).at(-1)?.status, 400)
  })
  it('uses budgets up on one connection', async () => {
    await using service = await startSocketService()
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'max_tokens', threshold: 60 }] })
    const client = await service.connect({ 'x-guard-session-id': 's' })
    const ends: string[] = []
    for (const input of ['a', 'b', 'c', 'd', 'e']) {
      client.create(input)
      ends.push((await client.end()).type)
    }
    assert.ok(ends.includes('error'), String(ends))
    assert.equal(ends[0], 'response.completed')
  })
})

describe('a request that its client sends again', () => {
  for (const code of ['websocket_connection_limit_reached', 'previous_response_not_found'])
    it(`after ${code} five times is no loop`, async () => {
      await using service = await startSocketService()
      await service.policy({ mode: 'enforce', rules: [exact, { rule_type: 'error_retry', threshold: 3 }] })
      const client = await service.connect({ 'x-guard-session-id': 's' })
      for (let attempt = 0; attempt < 5; attempt++) {
        service.provider.script({ error: { status: 400, code } })
        client.create('again')
        assert.deepEqual(refusalOf(await client.end()), ['error', 400, code])
      }
      client.create('again')
      assert.equal((await client.end()).type, 'response.completed')
    })
  it('after cuts is no loop where failed ones are ignored', async () => {
    await using service = await startSocketService()
    await service.policy({ mode: 'enforce', rules: [{ ...exact, params: { ignore_failed: true } }] })
    for (let attempt = 0; attempt < 5; attempt++) {
      service.provider.script({ cut_at: 1 })
      const client = await service.connect({ 'x-guard-session-id': 's' })
      client.create('again')
      assert.equal((await client.closed).code, 1006)
    }
    const client = await service.connect({ 'x-guard-session-id': 's' })
    client.create('again')
    assert.equal((await client.end()).type, 'response.completed')
  })
})

describe('warm-ups', () => {
  it('pass as often as they come, count as no request, and what continues them is in their thread', async () => {
    await using service = await startSocketService()
    await service.policy({ mode: 'enforce', rules: [exact] })
    const client = await service.connect({ 'x-guard-session-id': 'warm' })
    let last = ''
    for (let turn = 0; turn < 4; turn++) {
      client.create([], { generate: false, instructions: 'Be short.' })
      last = idOf(await client.end())
    }
    assert.equal((await service.session('warm')).requests, 0)
    client.create('Hello', { previous_response_id: last, instructions: 'Be short.' })
    assert.equal((await client.end()).type, 'response.completed')
    assert.equal((await service.session('warm')).requests, 1)
    assert.equal(service.provider.creates.length, 5)
  })
})

describe('a paused session', () => {
  it('is answered with 409 while other messages wait, and goes on once it is resumed', async () => {
    await using service = await startSocketService()
    const client = await service.connect({ 'x-guard-session-id': 's' })
    const end = Promise.withResolvers<void>()
    service.provider.script({ until: end.promise })
    client.create('one')
    assert.equal((await client.next()).type, 'response.created')
    const { id } = await service.session('s')
    await service.gateway.request('POST', `/api/sessions/${id}/pause`)
    end.resolve()
    // what runs ends
    assert.equal((await client.end()).type, 'response.completed')
    client.create('two')
    assert.deepEqual(refusalOf(await client.end()), ['error', 409, 'PAUSED_SESSION'])
    client.send({ type: 'response.processed', id: 1 })
    client.create('three')
    assert.deepEqual(refusalOf(await client.end()), ['error', 409, 'PAUSED_SESSION'])
    assert.equal(service.provider.last.received.length, 1)
    await service.gateway.request('POST', `/api/sessions/${id}/resume`)
    client.create('four')
    assert.equal((await client.end()).type, 'response.completed')
    const types = service.provider.last.received.map((bytes) => (JSON.parse(String(bytes)) as { type: string }).type)
    assert.deepEqual(types, ['response.create', 'response.processed', 'response.create'])
  })
})
