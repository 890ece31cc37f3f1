import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dialectOf } from '../kit/dialogue.ts'
import { errorOf, type Service, type SessionView, startService } from '../kit/service.ts'

const chat = dialectOf('chat_completions')

describe('4.3 local administration', () => {
  let service: Service
  before(async () => {
    service = await startService()
    for (const [id, project] of [
      ['a', 'shop'],
      ['b', 'shop'],
      ['c', 'blog'],
    ] as const)
      await service.send(chat, [{ user: `task ${id}` }], {
        'x-guard-session-id': id,
        'x-guard-project-id': project,
        'x-guard-agent-id': 'builder',
      })
  })
  after(() => service[Symbol.asyncDispose]())
  const get = async (path: string): Promise<Record<string, unknown>> => {
    const { status, text, json } = await service.request('GET', path)
    assert.equal(status, 200, text)
    return json as Record<string, unknown>
  }

  it('GET /health tells state and version', async () => {
    const { status, version } = await get('/api/health')
    assert.equal(status, 'ok')
    assert.match(String(version), /^\d+\.\d+\.\d+/)
  })
  it('GET /sessions lists sessions, newest first, by filter and page by page', async () => {
    const ids = ({ sessions }: Record<string, unknown>) =>
      (sessions as SessionView[]).map(({ external_id }) => external_id)
    assert.deepEqual(ids(await get('/api/sessions')), ['c', 'b', 'a'])
    assert.deepEqual(ids(await get('/api/sessions?project_id=shop&agent_id=builder')), ['b', 'a'])
    const first = await get('/api/sessions?limit=2')
    assert.deepEqual(ids(first), ['c', 'b'])
    const second = await get(`/api/sessions?limit=2&cursor=${encodeURIComponent(String(first.next_cursor))}`)
    assert.deepEqual([ids(second), second.next_cursor], [['a'], null])
  })
  it('GET /sessions with an unknown filter is refused and says which there are', async () => {
    const answer = await service.request('GET', '/api/sessions?colour=red')
    assert.deepEqual([answer.status, errorOf(answer).code], [400, 'UNKNOWN_FILTER'])
    assert.match(String(errorOf(answer).message), /project_id/)
  })
  it('GET /sessions/{id} inspects a session by its id or by the id its client uses', async () => {
    const { id } = await service.session('a')
    assert.equal((await service.session(id)).external_id, 'a')
    const answer = await service.request('GET', '/api/sessions/ses_nobody')
    assert.deepEqual([answer.status, errorOf(answer).code], [404, 'SESSION_NOT_FOUND'])
  })
  it('PATCH /sessions/{id} changes name and metadata, and nothing else', async () => {
    const changed = await service.request('PATCH', '/api/sessions/a', { name: 'Repair', metadata: { ticket: 'T-1' } })
    assert.equal(changed.status, 200)
    const { name, metadata } = await service.session('a')
    assert.deepEqual([name, metadata], ['Repair', { ticket: 'T-1' }])
    const refused = await service.request('PATCH', '/api/sessions/a', { paused: true })
    assert.equal(refused.status, 400)
    assert.equal((await service.session('a')).paused, false)
  })
  it('GET /sessions/{id}/events gives the decisions of a session', async () => {
    const [event] = await service.events('b')
    assert.deepEqual(
      [event?.name, event?.attributes.decision, event?.attributes.mode],
      ['policy.decision', 'allow', 'shadow'],
    )
  })
  it('POST /sessions/{id}/pause and /resume change the state, without a body', async () => {
    for (const [act, paused] of [
      ['pause', true],
      ['resume', false],
    ] as const) {
      assert.equal((await service.request('POST', `/api/sessions/c/${act}`)).status, 200)
      assert.equal((await service.session('c')).paused, paused)
    }
  })
  it('GET /policies/{project_id} gives what holds, PUT replaces it, a stale version is refused', async () => {
    assert.deepEqual((({ version, source, mode }) => [version, source, mode])(await get('/api/policies/new')), [
      0,
      'built_in',
      null,
    ])
    const rules = [{ rule_type: 'max_requests', threshold: 9 }]
    await service.policy({ mode: 'enforce', rules, expected_version: 0 }, 'new')
    const stored = await get('/api/policies/new')
    assert.deepEqual([stored.version, stored.source, stored.mode], [1, 'own', 'enforce'])
    assert.deepEqual(stored.rules, [
      { id: 'max_requests', rule_type: 'max_requests', threshold: 9, window_size: 0, action: 'block', enabled: true },
    ])
    const stale = await service.request('PUT', '/api/policies/new', { rules, expected_version: 0 })
    assert.deepEqual([stale.status, errorOf(stale).code], [409, 'VERSION_CONFLICT'])
    await service.policy(rules, 'bare-list')
  })
  it('DELETE /policies/{project_id} has the project follow that of default again', async () => {
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'max_requests', threshold: 1 }] }, 'given-back')
    const { status, json } = await service.request('DELETE', '/api/policies/given-back?expected_version=1')
    assert.deepEqual([status, (json as { source: string }).source], [200, 'built_in'])
    assert.deepEqual(json, await get('/api/policies/given-back'))
    const again = await service.request('DELETE', '/api/policies/given-back')
    assert.deepEqual([again.status, errorOf(again).code], [404, 'NOT_FOUND'])
  })
  it('a new policy judges the next request', async () => {
    const ask = (n: number) =>
      service.send(chat, [{ user: `${n}` }], { 'x-guard-session-id': 'judged', 'x-guard-project-id': 'tight' })
    assert.equal((await ask(1)).status, 200)
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'max_requests', threshold: 1 }] }, 'tight')
    assert.equal((await ask(2)).status, 429)
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'max_requests', threshold: 2 }] }, 'tight')
    assert.equal((await ask(3)).status, 200)
  })
  it('POST /agents registers, GET /agents lists, a second of the same id is refused', async () => {
    assert.equal((await service.request('POST', '/api/agents', { id: 'tester', name: 'Tester' })).status, 201)
    const { agents } = await get('/api/agents')
    const ids = (agents as { id: string }[]).map(({ id }) => id)
    assert.ok(ids.includes('tester') && ids.includes('builder'), 'agents that only sent requests are there too')
    const again = await service.request('POST', '/api/agents', { id: 'tester' })
    assert.deepEqual([again.status, errorOf(again).code], [409, 'AGENT_EXISTS'])
  })
  it('POST /agents/{id}/pause and /resume change the state, without a body', async () => {
    for (const [act, paused] of [
      ['pause', true],
      ['resume', false],
    ] as const) {
      const answer = await service.request('POST', `/api/agents/builder/${act}`)
      assert.equal((answer.json as { agent: { paused: boolean } }).agent.paused, paused)
    }
  })
  it('POST /demo/run runs a scenario through the real pipeline', async () => {
    const answer = await service.request('POST', '/api/demo/run')
    const run = answer.json as Record<string, unknown>
    assert.deepEqual([answer.status, run.scenario_id, run.status, run.matched], [200, 'exact-loop', 'completed', true])
  })
  it('POST /demo/run takes the id of a scenario by the name it has elsewhere, too', async () => {
    for (const [body, status, scenario] of [
      [{ scenario: 'calm-work' }, 200, 'calm-work'],
      [{ scenario_id: 'calm-work', mode: 'enforce' }, 200, 'calm-work'],
      [{ scenario_id: 'calm-work', scenario: 'exact-loop' }, 400, undefined],
    ] as const) {
      const answer = await service.request('POST', '/api/demo/run', body)
      assert.deepEqual([answer.status, (answer.json as { scenario_id?: string }).scenario_id], [status, scenario])
    }
  })
  it('GET /export/sessions/{id}.json exports one session', async () => {
    const { id } = await service.session('a')
    const answer = await service.request('GET', `/api/export/sessions/${id}.json`)
    assert.match(answer.headers.get('content-disposition') ?? '', new RegExp(`^attachment; filename="${id}\\.json"$`))
    assert.ok(answer.text.includes('policy.decision'))
    assert.equal((answer.json as { session: { id: string } }).session.id, id)
  })
  it('GET /export/aggregates.csv exports counts by day', async () => {
    const answer = await service.request('GET', '/api/export/aggregates.csv?project_id=blog')
    assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/)
    const [head = '', row = ''] = answer.text.split(/\r?\n/)
    const column = head
      .split(',')
      .map((name) => name.replaceAll('"', ''))
      .indexOf('requests')
    assert.equal(row.split(',')[column]?.replaceAll('"', ''), '1')
  })
})
