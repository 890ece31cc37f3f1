import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dialectOf } from '../../kit/dialogue.ts'
import { chatReply } from '../../kit/replies.ts'
import { type Service, startService } from '../../kit/service.ts'
import { readMetrics } from './reader.ts'

const chat = dialectOf('chat_completions')

const asked = async (service: Service): Promise<ReturnType<typeof readMetrics>> => {
  const answer = await fetch(`${service.gateway.url}/metrics`)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  return readMetrics(await answer.text())
}

describe('GET /metrics', () => {
  it('counts decisions, blocked retries, tokens and durations of model requests', async () => {
    await using service = await startService()
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'exact_repeat', threshold: 2, window_size: 4 }] })
    for (let n = 0; n < 3; n++) await service.send(chat, [{ user: 'same' }], { 'x-guard-session-id': 'one' })
    const { value } = await asked(service)
    assert.equal(value('guard_decisions_total', { decision: 'allow', reason: '', mode: 'enforce' }), 1)
    assert.equal(value('guard_decisions_total', { decision: 'block', reason: 'LOOP_EXACT', mode: 'enforce' }), 2)
    assert.equal(value('guard_blocked_retries_total', { reason: 'LOOP_EXACT' }), 1)
    const labels = { gen_ai_request_model: 'm-1', upstream: 'provider', style: 'chat_completions' }
    const usage = JSON.parse(String(chatReply(false).body)).usage as { prompt_tokens: number }
    assert.equal(value('gen_ai_client_token_usage_sum', { ...labels, gen_ai_token_type: 'input' }), usage.prompt_tokens)
    assert.equal(value('gen_ai_server_request_duration_count', labels), 1)
    assert.equal(value('gen_ai_server_time_to_first_token_count', labels), 1)
    assert.equal(value('guard_decide_seconds_count'), 3)
    assert.equal(value('guard_overhead_seconds_count'), 1)
    assert.equal(value('guard_usage_total', { source: 'reported' }), 1)
    assert.equal(value('guard_cost_lookups_total', { status: 'unpriced' }), 1)
    assert.equal(value('guard_in_flight'), 0)
    assert.equal(value('guard_sessions_open'), 1)
    assert.equal(value('guard_storage_state', { state: 'ok' }), 1)
    assert.ok(Number(value('guard_memory_budget_bytes')) >= 48 * 1024 * 1024)
    assert.equal(value('guard_memory_bytes', { part: 'sessions' }), 2_500)
    assert.ok((value('guard_memory_bytes', { part: 'histories' }) ?? 0) > 2_000)
  })
  it('counts replies that a rule about cost could not count', async () => {
    await using service = await startService()
    await service.policy({ rules: [{ rule_type: 'max_cost', action: 'flag' }] })
    await service.send(chat, [{ user: 'a' }])
    assert.equal((await asked(service)).value('guard_unpriced_budgets_total'), 1)
  })
  it('counts failed attempts by status, and how streams ended', async () => {
    await using service = await startService()
    service.provider.script({ status: 529 }, { reset: true }, {}, { cut_at: 20 })
    for (const stream of [false, false, true, true])
      await service.send(chat, [{ user: `${Math.random()}` }], {}, { stream }).catch(() => undefined)
    const { value } = await asked(service)
    assert.equal(value('guard_upstream_errors_total', { upstream: 'provider', status: '529' }), 1)
    assert.equal(value('guard_upstream_errors_total', { upstream: 'provider', status: 'none' }), 1)
    assert.equal(value('guard_streams_ended_total', { outcome: 'ok' }), 1)
    assert.equal(value('guard_streams_ended_total', { outcome: 'truncated' }), 1)
  })
  it('counts a client that leaves before the answer as no failure of the upstream', async () => {
    await using service = await startService()
    service.provider.script({ silent: true })
    const leaving = new AbortController()
    const arrived = service.provider.next()
    const answer = fetch(`${service.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': service.gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm-1', stream: true, messages: [] }),
      signal: leaving.signal,
    })
    await arrived
    leaving.abort()
    await assert.rejects(answer)
    let { value } = await asked(service)
    while (value('guard_in_flight') !== 0) ({ value } = await asked(service))
    assert.equal(value('guard_streams_ended_total', { outcome: 'client_aborted' }), 1)
    assert.equal(value('guard_upstream_errors_total', { upstream: 'provider', status: 'none' }), undefined)
  })
  it('counts faults by place, records that were kept, and what fills', async () => {
    await using service = await startService()
    service.gateway.gateway.fault(new Error('lost'), 'somewhere')
    await service.request('POST', '/api/v1/traces', { spans: [{ name: 'a' }, { name: 'b' }], events: [{ name: 'e' }] })
    const { value } = await asked(service)
    assert.equal(value('guard_faults_total', { where: 'somewhere' }), 1)
    assert.equal(value('guard_kept_records_total', { origin: 'api', kind: 'spans' }), 2)
    assert.equal(value('guard_kept_records_total', { origin: 'api', kind: 'events' }), 1)
    assert.equal(value('guard_fill', { part: 'replay', what: 'open_runs' }), 1)
    assert.ok((value('process_resident_memory_bytes') ?? 0) > 1e6)
  })
  it('tells no session, agent or key, hides secrets in names of models, and knows 200 models at most', async () => {
    await using service = await startService()
    const secret = `sk-proj-${'a1B2c3D4'.repeat(6)}`
    const headers = { 'x-guard-session-id': 'private-session', 'x-guard-agent-id': 'private-agent' }
    await service.send(chat, [{ user: 'x' }], headers, { model: secret })
    await service.send(chat, [{ user: 'x' }], {}, { model: 'quo"te\\\n' })
    for (let n = 0; n < 210; n++)
      await service.send(chat, [{ user: 'x' }], { 'x-guard-session-id': `s${n}` }, { model: `model-${n}` })
    const { text, value, names } = await asked(service)
    assert.ok(!text.includes(secret) && !text.includes('private-') && !text.includes(service.gateway.key))
    const labels = { upstream: 'provider', style: 'chat_completions' }
    const count = (model: string) =>
      value('gen_ai_server_request_duration_count', { gen_ai_request_model: model, ...labels })
    assert.equal(count('quo"te\\\n'), 1)
    assert.equal(count('model-0'), 1)
    assert.equal(count('model-205'), undefined)
    assert.equal(count('other'), 12)
    assert.ok(names.has('guard_decisions_total'))
  })
  it('is closed to pages of other origins, and needs no key', async () => {
    await using service = await startService()
    const foreign = await fetch(`${service.gateway.url}/metrics`, { headers: { origin: 'https://evil.example' } })
    assert.equal(foreign.status, 403)
    await foreign.arrayBuffer()
  })
})
