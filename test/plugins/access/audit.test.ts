import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { removeOld } from '../../../plugins/access/index.ts'
import { onEachBackend } from '../../kit/backends.ts'
import { type Remote, remote } from './kit.ts'
import { OWN, type TwoTeams, twoTeams } from './two-teams.ts'

interface Entry {
  readonly actor: string
  readonly actor_kind: string
  readonly action: string
  readonly subject: string | null
  readonly project_id: string | null
  readonly details: Readonly<Record<string, unknown>>
}

const entriesOf = async ({ ask }: Pick<Remote, 'ask'>, key?: string, query = ''): Promise<readonly Entry[]> => {
  const answer = await ask(`/api/v1/audit?limit=200${query}`, { key })
  assert.equal(answer.status, 200, answer.text)
  return answer.json.entries as readonly Entry[]
}

onEachBackend('who did what', (backend) => {
  let teams: TwoTeams
  let key = ''
  let key_id = ''
  before(async () => {
    teams = await twoTeams(backend)
    ;({ key, id: key_id } = await teams.key(['admin'], undefined, 'Ada'))
  })
  after(() => teams[Symbol.asyncDispose]())

  const idOf = (kind: string): string => teams.own[kind]?.[0] ?? ''

  it('is on record for each act, by the name of the key', async () => {
    const session = `/api/sessions/${idOf(':session_id')}`
    const agent = `/api/agents/${idOf(':agent')}`
    const approval = `/api/v1/mcp/approvals/${idOf(':approval')}`
    const acts: readonly (readonly [string, string, unknown, string, string | null])[] = [
      ['POST', `${session}/resume`, {}, 'session.resumed', OWN],
      ['POST', `${session}/pause`, { reason: 'tea' }, 'session.paused', OWN],
      ['POST', `${session}/end`, {}, 'session.ended', OWN],
      ['PATCH', session, { name: 'ours' }, 'session.updated', OWN],
      ['POST', `${agent}/pause`, {}, 'agent.paused', OWN],
      ['POST', `${agent}/resume`, {}, 'agent.resumed', OWN],
      ['POST', '/api/agents', { id: 'new', project_id: OWN }, 'agent.registered', OWN],
      ['POST', `${agent}/keys`, {}, 'agent.key_issued', null],
      ['DELETE', `${agent}/keys/${idOf(':key_id')}`, undefined, 'agent.key_revoked', null],
      ['POST', approval, { action: 'allow' }, 'approval.allowed', OWN],
      ['POST', `${approval}/undo`, {}, 'approval.undone', OWN],
      ['POST', approval, { action: 'deny' }, 'approval.denied', OWN],
      ['PUT', `/api/policies/${OWN}`, { mode: 'enforce' }, 'policy.mode_changed', OWN],
      ['PUT', `/api/policies/${OWN}`, { rules: [{ rule_type: 'exact_repeat', threshold: 5 }] }, 'policy.changed', OWN],
      ['DELETE', `/api/policies/${OWN}`, undefined, 'policy.removed', OWN],
      ['POST', `/api/v1/runs/${idOf(':trace_id')}/pin`, {}, 'run.edited', OWN],
      ['POST', '/api/v1/playground/runs', { scenario: 'exact-loop' }, 'playground.started', 'playground-exact-loop'],
      ['POST', '/api/notify/test', {}, 'notifier.tested', null],
      ['POST', '/api/keys', { name: 'x', scopes: ['read'] }, 'key.created', null],
      ['DELETE', `/api/keys/${idOf(':access_key')}`, undefined, 'key.revoked', OWN],
    ]
    for (const [method, path, body, action, project] of acts) {
      const answer = await teams.ask(path, { method, key, body })
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
      const [entry] = await entriesOf(teams, key, `&actor=Ada&action=${action}`)
      assert.ok(entry !== undefined, action)
      assert.deepEqual([entry.actor, entry.actor_kind, entry.project_id], ['Ada', 'key', project], action)
    }
    const text = JSON.stringify(await entriesOf(teams, key))
    assert.ok(text.includes(key_id) && !text.includes(key))
  })
  it('is not said of what a rule does', async () => {
    const { storage } = teams.gateway
    const before = await storage.find('audit', { where: { action: 'session.paused' }, limit: 200 })
    const sessions = teams.gateway.service('sessions').need()
    const row = await sessions.find(idOf(':session_id'))
    await sessions.pause({ row, open: 0 }, 'a rule', { rule_id: 'r' })
    assert.deepEqual(await storage.find('audit', { where: { action: 'session.paused' }, limit: 200 }), before)
  })
  it('is filtered by time, in pages', async () => {
    const all = await entriesOf(teams, key, '&since=1h')
    assert.ok(all.length > 10)
    assert.equal((await entriesOf(teams, key, '&since=2099-01-01')).length, 0)
    const first = await teams.ask('/api/v1/audit?limit=3&since=1h', { key })
    const next = await teams.ask(`/api/v1/audit?limit=3&since=1h&cursor=${first.json.next_cursor}`, { key })
    const ids = [first, next].flatMap(({ json }) => (json.entries as readonly { id: string }[]).map(({ id }) => id))
    assert.equal(new Set(ids).size, 6)
    assert.match((await teams.ask('/api/v1/audit?since=soon', { key })).text, /"INVALID_FILTER"/)
  })
  it('is kept for 400 days', async () => {
    const { storage, clock } = teams.gateway
    const [entry] = (await storage.find('audit', { limit: 1 })).rows
    assert.ok(entry !== undefined)
    const day = 86_400_000
    await storage.put('audit', { ...entry, id: 'adt_old', at: clock.now() - 401 * day })
    await storage.put('audit', { ...entry, id: 'adt_young', at: clock.now() - 399 * day })
    await removeOld(teams.gateway)
    assert.equal(await storage.get('audit', 'adt_old'), undefined)
    assert.ok((await storage.get('audit', 'adt_young')) !== undefined)
  })
})

describe('on loopback', () => {
  it('whoever is on this machine did it', async () => {
    await using running = await remote({ host: '127.0.0.1' })
    await running.ask('/api/agents', { method: 'POST', body: { id: 'a' } })
    const entries = await entriesOf(running)
    assert.deepEqual(
      entries.map(({ actor, actor_kind, action }) => [actor, actor_kind, action]),
      [
        ['loopback', 'loopback', 'agent.key_issued'],
        ['loopback', 'loopback', 'agent.registered'],
      ],
    )
  })
})
