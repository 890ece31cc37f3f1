import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { onEachBackend } from '../../kit/backends.ts'
import { MARKER, OTHER, OWN, type TwoTeams, twoTeams } from './two-teams.ts'

onEachBackend('a key that is bound to a project', (backend) => {
  let teams: TwoTeams
  let key = ''
  before(async () => {
    teams = await twoTeams(backend)
    key = (await teams.key(['admin'], [OWN], 'own')).key
  })
  after(() => teams[Symbol.asyncDispose]())

  const idOf = (kind: string, ids = teams.others): string => ids[kind]?.[0] ?? ''
  const send = (method: string, path: string, body: unknown = {}, by = key) =>
    teams.ask(path, { method, key: by, body })
  const form = (path: string, fields: Record<string, string> = {}) =>
    teams.ask(path, { method: 'POST', key, body: new URLSearchParams(fields), headers: { accept: 'text/html' } })

  it('changes nothing of another project, which is not there for it', async () => {
    const session = `/api/sessions/${idOf(':session_id')}`
    const agent = `/api/agents/${idOf(':agent')}`
    const run = `/api/v1/runs/${idOf(':trace_id')}`
    const approval = `/api/v1/mcp/approvals/${idOf(':approval')}`
    const tried: readonly (readonly [string, string, unknown?])[] = [
      ['POST', `${session}/pause`],
      ['POST', `${session}/resume`],
      ['POST', `${session}/end`],
      ['PATCH', session, { name: 'mine' }],
      ['POST', `${agent}/pause`],
      ['POST', `${agent}/resume`],
      ['POST', `${agent}/keys`],
      ['DELETE', `${agent}/keys/${idOf(':key_id')}`, null],
      ['POST', `${run}/pin`],
      ['PATCH', run, { name: 'mine' }],
      ['POST', approval, { action: 'deny' }],
      ['POST', `${approval}/undo`],
      ['PUT', `/api/policies/${OTHER}`, { rules: [] }],
      ['DELETE', `/api/policies/${OTHER}`, null],
      ['DELETE', '/api/policies/default', null],
      ['POST', `/api/policies/${OTHER}/simulate`, { rules: [] }],
      ['DELETE', `/api/keys/${idOf(':access_key')}`, null],
      ['POST', '/api/v1/compare', { left: idOf(':trace_id'), right: idOf(':trace_id', teams.own) }],
    ]
    const before = await snapshot()
    for (const [method, path, body] of tried) {
      const { status, text } = await send(method, path, body ?? (body === null ? undefined : {}))
      assert.equal(status, 404, `${method} ${path}: ${text}`)
      assert.ok(!text.replaceAll(path, '').includes(`session-${MARKER}`), text)
    }
    assert.deepEqual(await snapshot(), before)
  })
  it('changes nothing of it by forms', async () => {
    const before = await snapshot()
    for (const path of [
      `/ui/sessions/${idOf(':session_id')}/pause`,
      `/ui/sessions/${idOf(':session_id')}/resume`,
      `/ui/sessions/${idOf(':session_id')}/end`,
      `/ui/sessions/${idOf(':session_id')}/name`,
      `/ui/agents/${idOf(':agent')}/pause`,
      `/ui/agents/${idOf(':agent')}/resume`,
      `/ui/approvals/${idOf(':approval')}`,
      `/ui/approvals/${idOf(':approval')}/undo`,
      `/ui/runs/${idOf(':trace_id')}/pin`,
      `/ui/runs/${idOf(':trace_id')}/tags`,
      `/ui/runs/${idOf(':trace_id')}/failure-tag`,
      `/ui/policies/${OTHER}`,
    ]) {
      const { status, text } = await form(path, { name: 'mine', action: 'deny', tags: 'mine', pinned: 'true' })
      assert.ok([404, 422].includes(status), `${path}: ${status} ${text}`)
    }
    assert.deepEqual(await snapshot(), before)
  })
  it('writes into no run of another project', async () => {
    const { key: writer } = await teams.key(['ingest'], [OWN])
    const trace_id = idOf(':trace_id')
    const before = await snapshot()
    for (const [path, body] of [
      ['/api/v1/traces', { trace_id, name: 'mine' }],
      ['/api/v1/traces', { trace_id, name: 'mine', project_id: OTHER }],
      ['/api/v1/spans', { trace_id, name: 'mine' }],
      ['/api/v1/events/batch', { trace_id, events: [{ name: 'mine' }] }],
    ] as const) {
      const { status, text } = await send('POST', path, body, writer)
      assert.ok(status >= 400 && status < 500, `${path}: ${status} ${text}`)
    }
    assert.deepEqual(await snapshot(), before)
    assert.equal((await send('POST', '/api/v1/traces', { name: 'own' }, writer)).status, 201)
  })
  it('changes what is its own', async () => {
    const session = `/api/sessions/${idOf(':session_id', teams.own)}`
    const approval = `/api/v1/mcp/approvals/${idOf(':approval', teams.own)}`
    for (const [method, path, body] of [
      ['POST', `${session}/resume`],
      ['PATCH', session, { name: 'ours' }],
      ['POST', `/api/agents/${idOf(':agent', teams.own)}/pause`],
      ['POST', `/api/v1/runs/${idOf(':trace_id', teams.own)}/pin`],
      ['POST', approval, { action: 'deny' }],
      ['PUT', `/api/policies/${OWN}`, { mode: 'shadow' }],
      ['DELETE', `/api/policies/${OWN}`],
    ] as const) {
      const { status, text } = await send(method, path, body)
      assert.equal(status, 200, `${method} ${path}: ${text}`)
    }
  })
  it('pauses and resumes an agent for its own project alone, whoever named it first and where', async () => {
    const { key: all } = await teams.key(['admin'])
    const { key: others } = await teams.key(['admin'], [OTHER])
    const call = (project: string, agent?: string, session?: string) =>
      teams.ask('/v1/messages', {
        method: 'POST',
        key: all,
        headers: {
          'x-guard-project-id': project,
          ...(agent !== undefined && { 'x-guard-agent-id': agent }),
          ...(session !== undefined && { 'x-guard-session-id': session }),
        },
        body: { model: 'm', max_tokens: 8, messages: [{ role: 'user', content: `hi ${agent} ${session}` }] },
      })
    const act = async (what: string, agent: string, by: string) => {
      const { status, json, text } = await send('POST', `/api/agents/${agent}/${what}`, {}, by)
      return status === 200 ? (json.agent as { paused: boolean }).paused : text
    }
    const paused = async (by: string) => {
      const { json } = await teams.ask('/api/agents?paused=true', { key: by })
      return (json.agents as readonly { id: string }[]).map(({ id }) => id)
    }
    const statuses = async (agent: string) => [
      (await call(OWN, agent, `own ${agent}`)).status,
      (await call(OTHER, agent, `late ${agent}`)).status,
    ]

    // the session of the other team begins without its agent, which works in it later
    assert.equal((await call(OTHER, undefined, 'late later')).status, 200)
    for (const agent of ['later', 'early']) {
      if (agent === 'early') assert.equal((await call(OWN, agent, 'own early')).status, 200)
      assert.deepEqual(await statuses(agent), [200, 200])
      await teams.gateway.storage.flush()
      for (const by of [key, others])
        assert.equal((await teams.ask(`/api/agents/${agent}`, { key: by })).status, 200, agent)

      assert.equal(await act('pause', agent, key), true)
      assert.deepEqual(await statuses(agent), [409, 200])
      assert.equal((await paused(others)).includes(agent), false)
      assert.equal((await paused(key)).includes(agent), true)
      assert.equal((await paused(all)).includes(agent), true)
      assert.equal(await act('resume', agent, others), false)
      assert.deepEqual(await statuses(agent), [409, 200])
      assert.equal(await act('pause', agent, others), true)
      assert.equal(await act('resume', agent, key), false)
      assert.deepEqual(await statuses(agent), [200, 409])

      assert.equal(await act('pause', agent, all), true)
      assert.deepEqual(await statuses(agent), [409, 409])
      assert.equal(await act('resume', agent, others), false)
      assert.deepEqual(await statuses(agent), [409, 200])
      assert.equal(await act('resume', agent, all), false)
      assert.deepEqual(await statuses(agent), [200, 200])
    }
  })
  it('makes and ends no key of an agent that works for others too', async () => {
    const { key: all } = await teams.key(['admin'])
    const made = await send('POST', '/api/agents', { id: 'keyed' }, all)
    const { key: keyed, key_id } = made.json as { key: string; key_id: string }
    for (const project of [OTHER, OWN]) {
      const { status } = await teams.ask('/v1/messages', {
        method: 'POST',
        key: keyed,
        headers: { 'x-guard-project-id': project },
        body: { model: 'm', max_tokens: 8, messages: [{ role: 'user', content: 'hi' }] },
      })
      assert.equal(status, 200, project)
    }
    await teams.gateway.storage.flush()
    assert.equal((await teams.ask('/api/agents/keyed', { key })).status, 200)
    assert.match((await send('POST', '/api/agents/keyed/keys')).text, /"AGENT_SHARED"/)
    assert.match((await send('DELETE', `/api/agents/keyed/keys/${key_id}`, null)).text, /"AGENT_SHARED"/)
    assert.equal((await send('POST', '/api/agents/keyed/keys', {}, all)).status, 201)
  })
  it('registers agents of its own projects alone', async () => {
    assert.equal((await send('POST', '/api/agents', { id: 'new', project_id: OTHER })).status, 400)
    assert.equal((await send('POST', '/api/agents', { id: 'new' })).status, 400)
    assert.equal((await send('POST', '/api/agents', { id: 'new', project_id: OWN })).status, 201)
  })

  /** All that the other team has, as it is stored. */
  const snapshot = async () => {
    const { storage } = teams.gateway
    const where = { project_id: OTHER }
    const tables = ['sessions', 'agents', 'runs', 'policies', 'mcp_approvals', 'session_events'] as const
    const rows = await Promise.all(tables.map((table) => storage.find(table, { where })))
    const keys = await storage.find('agent_keys', { where: { agent_id: idOf(':agent') } })
    const events = await storage.find('spans', { where: { trace_id: idOf(':trace_id') } })
    return [...rows, keys, events].map((page) => page.rows)
  }
})
