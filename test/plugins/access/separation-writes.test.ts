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
    ] as const) {
      const { status, text } = await send(method, path, body)
      assert.equal(status, 200, `${method} ${path}: ${text}`)
    }
  })
  it('pauses no agent that works for others too', async () => {
    const { key: models } = await teams.key(['models'])
    for (const project of [OWN, OTHER])
      await teams.ask('/v1/messages', {
        method: 'POST',
        key: models,
        headers: { 'x-guard-project-id': project, 'x-guard-agent-id': 'shared' },
        body: { model: 'm', max_tokens: 8, messages: [{ role: 'user', content: 'hi' }] },
      })
    await teams.gateway.storage.flush()
    assert.equal((await teams.ask('/api/agents/shared', { key })).status, 200)
    assert.match((await send('POST', '/api/agents/shared/pause')).text, /"AGENT_SHARED"/)
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
