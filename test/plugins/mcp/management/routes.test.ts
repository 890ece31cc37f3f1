import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { ApprovalView } from '../../../../plugins/mcp/management/approval-schemas.ts'
import type { AuditEventView } from '../../../../plugins/mcp/management/event-schemas.ts'
import { assertEventV1 } from '../../../kit/event-v1.ts'
import {
  callNeedingConsent,
  decisionIn,
  factsOf,
  judgementOf,
  logOf,
  SESSION,
  spansOf,
  TIMEOUT_MS,
} from '../audit/records-kit.ts'
import { aServer, type Bench, expecting, refused, startApi } from './kit.ts'

let api: Bench
const start = async (): Promise<void> => {
  api = await startApi()
}
const stop = async (): Promise<void> => {
  await api.close()
  assert.deepEqual(api.faults, [])
}

interface Events {
  readonly events: readonly AuditEventView[]
  readonly next_cursor: string | null
}
interface Approvals {
  readonly approvals: readonly ApprovalView[]
  readonly next_cursor: string | null
}
const events = async (query = ''): Promise<Events> => expecting(200, await api.send('GET', `/events${query}`))
const approvals = async (query = ''): Promise<Approvals> => expecting(200, await api.send('GET', `/approvals${query}`))
const decide = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  api.send('POST', `/approvals/${id}`, body, headers)

const judge = async (tool: string, action: 'allow' | 'deny', log = logOf(api)): Promise<void> => {
  const entry = await log.begin()
  await log.judged(entry, factsOf(api, {}, { tool }), judgementOf({ action, forwarded: action === 'allow' }))
}

describe('GET /events', () => {
  beforeEach(start)
  afterEach(stop)

  it('gives the records newest first, as event.v1 with their own fields beside', async () => {
    await judge('read_file', 'allow')
    api.clock.advance(1_000)
    await judge('delete_file', 'deny')
    api.audit.event({ kind: 'policy', name: 'policy.rejected', reason: 'line 3' })
    await api.audit.flush()
    const page = await events()
    assert.equal(page.next_cursor, null)
    for (const event of page.events)
      assertEventV1(JSON.parse(JSON.stringify({ ...event, time_ns: Number(event.time_ns) })))
    const decision = page.events.find(({ tool }) => tool === 'delete_file')
    assert.deepEqual(
      [decision?.name, decision?.kind, decision?.action, decision?.forwarded, decision?.severity, decision?.session_id],
      ['policy.decision', 'decision', 'deny', false, 'warn', SESSION],
    )
    assert.deepEqual([decision?.rule_ids, decision?.schema_state, decision?.outcome], [['r1'], 'ok', 'none'])
    assert.equal(decision?.attributes.decision, 'deny')
    assert.equal(decision?.attributes.argument_hash, decision?.argument_hash)
    assert.match(decision?.trace_id ?? '', /^[0-9a-f]{32}$/)
    assert.equal(page.events.find(({ kind }) => kind === 'policy')?.reason, 'line 3')
    assert.equal(page.events.at(-1)?.tool, 'read_file')
  })
  it('gives a decision the id that it has in Replay, and other records their own', async () => {
    await judge('delete_file', 'deny')
    api.audit.event({ kind: 'pin', name: 'pin.changed' })
    await api.audit.flush()
    const [other, decision] = (await events()).events
    const [span] = await spansOf(api, decision?.trace_id ?? '', 'tool.call')
    assert.equal(decision?.id, decisionIn(span)?.id)
    assert.match(other?.id ?? '', /^aud_/)
  })
  it('filters by server, session, tool, action, kind and time', async () => {
    await judge('read_file', 'allow')
    await judge('read_file', 'deny', logOf(api, { id: 'mcp_other' }))
    api.clock.advance(7_200_000)
    await judge('write_file', 'allow')
    api.audit.event({ kind: 'pin', name: 'pin.changed', server_id: 'db' })
    await api.audit.flush()
    const tools = async (query: string) => (await events(query)).events.map(({ tool }) => tool)
    assert.deepEqual(await tools('?server_id=db'), [null])
    assert.deepEqual(await tools('?session_id=mcp_other'), ['read_file'])
    assert.deepEqual(await tools('?tool=write_file'), ['write_file'])
    assert.deepEqual(await tools('?action=deny'), ['read_file'])
    assert.deepEqual(await tools('?kind=pin'), [null])
    assert.deepEqual(await tools('?kind=decision&since=1h'), ['write_file'])
    assert.equal((await tools('?kind=decision&since=2026-01-01T00:00:00Z')).length, 3)
  })
  it('gives pages that join without gap or double', async () => {
    const log = logOf(api)
    for (let call = 0; call < 7; call++) await judge(`tool_${call}`, 'allow', log)
    const seen: (string | null)[] = []
    let cursor: string | null = null
    do {
      const page: Events = await events(`?limit=3&since=1h${cursor === null ? '' : `&cursor=${cursor}`}`)
      api.clock.advance(1)
      seen.push(...page.events.map(({ tool }) => tool))
      cursor = page.next_cursor
    } while (cursor !== null)
    assert.deepEqual(
      seen,
      [6, 5, 4, 3, 2, 1, 0].map((call) => `tool_${call}`),
    )
  })
  it('refuses filters that nobody knows or that cannot be, and foreign cursors', async () => {
    refused(400, 'UNKNOWN_FILTER', await api.send('GET', '/events?tools=x'))
    for (const query of ['limit=501', 'limit=0', 'action=block', 'kind=x'])
      refused(400, 'INVALID_REQUEST', await api.send('GET', `/events?${query}`))
    for (const since of ['2026-99-99', '2026-02-31', 'lately', ''])
      refused(400, 'INVALID_FILTER', await api.send('GET', `/events?since=${since}`))
    refused(400, 'INVALID_CURSOR', await api.send('GET', '/events?cursor=abc'))
  })
})

describe('approvals over the API', () => {
  beforeEach(start)
  afterEach(stop)

  it('are listed with what an approver needs, and not by what is of no use outside', async () => {
    const { approval, entry } = await callNeedingConsent(api, { args: { path: 'notes.txt', token: 'hunter22' } })
    const [one] = (await approvals()).approvals
    assert.equal(one?.id, approval.id)
    assert.deepEqual(
      [one?.status, one?.tool, one?.server_id, one?.trace_id],
      ['pending', 'write_file', 'fs', entry.trace_id],
    )
    assert.deepEqual(one?.client, { name: 'client', version: '1' })
    assert.match(one?.preview ?? '', /^\{"path":"notes\.txt","token":"\[REDACTED:[a-z]+\]"\}$/)
    assert.equal(Date.parse(one?.expires_at ?? '') - Date.parse(one?.created_at ?? ''), TIMEOUT_MS)
    assert.equal(JSON.stringify(one).includes('open_key'), false)
    assert.deepEqual(expecting(200, await api.send('GET', `/approvals/${approval.id}`)), one)
  })
  it('are filtered by status, server, session and tool, those expired meanwhile told as such', async () => {
    const first = await callNeedingConsent(api)
    expecting(200, await decide(first.approval.id, { action: 'deny' }))
    await callNeedingConsent(api, { args: { b: 1 }, question: { tool: 'other', session_id: 'mcp_two' } })
    const ids = async (query: string) => (await approvals(query)).approvals.length
    assert.equal(await ids(''), 2)
    assert.equal(await ids('?status=pending'), 1)
    assert.equal(await ids('?status=denied&tool=write_file'), 1)
    assert.equal(await ids('?session_id=mcp_two'), 1)
    assert.equal(await ids('?server_id=nobody'), 0)
    api.clock.advance(TIMEOUT_MS)
    assert.equal(await ids('?status=pending'), 0)
    assert.deepEqual(
      (await approvals()).approvals.map(({ status, preview }) => [status, preview]),
      [
        ['expired', null],
        ['expired', null],
      ],
    )
    assert.equal(await ids('?status=expired'), 2)
    refused(400, 'INVALID_REQUEST', await api.send('GET', '/approvals?status=open'))
    refused(400, 'UNKNOWN_FILTER', await api.send('GET', '/approvals?state=open'))
  })
  it('are decided once; the retry goes through once', async () => {
    const { approval } = await callNeedingConsent(api)
    const allowed = expecting<ApprovalView>(
      200,
      await decide(approval.id, { action: 'allow', scope: 'once', reason: 'ok' }),
    )
    assert.deepEqual(
      [allowed.status, allowed.scope, allowed.reason, allowed.decided_via],
      ['allowed', 'once', 'ok', 'api'],
    )
    const again = refused(409, 'APPROVAL_DECIDED', await decide(approval.id, { action: 'deny' }))
    assert.equal(again.status, 'allowed')
    assert.equal((await callNeedingConsent(api)).state, 'granted')
    assert.equal(refused(409, 'APPROVAL_DECIDED', await decide(approval.id, { action: 'allow' })).status, 'consumed')
    const late = await callNeedingConsent(api)
    api.clock.advance(TIMEOUT_MS)
    assert.equal(
      refused(409, 'APPROVAL_EXPIRED', await decide(late.approval.id, { action: 'allow' })).status,
      'expired',
    )
    refused(404, 'APPROVAL_NOT_FOUND', await decide('apr_nobody', { action: 'allow' }))
    refused(404, 'APPROVAL_NOT_FOUND', await api.send('GET', '/approvals/apr_nobody'))
  })
  it('know who decided on the command line', async () => {
    const { approval } = await callNeedingConsent(api)
    const body = { action: 'allow', scope: 'session' }
    const decided = expecting<ApprovalView>(200, await decide(approval.id, body, { 'x-guard-via': 'cli' }))
    assert.deepEqual([decided.decided_via, decided.scope], ['cli', 'session'])
  })
  it('take no other action, scope or member, and nothing but JSON', async () => {
    const { approval } = await callNeedingConsent(api)
    for (const body of [{}, { action: 'yes' }, { action: 'allow', scope: 'always' }, { action: 'allow', until: 1 }, []])
      refused(400, 'INVALID_REQUEST', await decide(approval.id, body))
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    refused(415, 'UNSUPPORTED_MEDIA_TYPE', await decide(approval.id, { action: 'allow' }, form))
    refused(
      403,
      'ORIGIN_NOT_ALLOWED',
      await decide(approval.id, { action: 'allow' }, { origin: 'http://evil.example' }),
    )
    assert.equal((await approvals('?status=pending')).approvals.length, 1)
  })
})

describe('servers and pins', () => {
  beforeEach(start)
  afterEach(stop)

  it('are told as the proxy knows them', async () => {
    const { servers, policy } = expecting<{ servers: unknown; policy: { version: string } }>(
      200,
      await api.send('GET', '/servers'),
    )
    assert.deepEqual([servers, policy.version], [[aServer], 'v1'])
  })
  it('are accepted by name or all', async () => {
    const answer = await api.send('POST', '/servers/fs/pins', { tools: ['read_file'] })
    assert.deepEqual(expecting(200, answer), { accepted: ['read_file'] })
    expecting(200, await api.send('POST', '/servers/fs/pins', { tools: 'all' }))
    const fingerprints = ['0123456789abcdef', 'f'.repeat(64)]
    expecting(200, await api.send('POST', '/servers/fs/pins', { tools: 'all', fingerprints }))
    assert.deepEqual(api.accepted, [
      ['fs', ['read_file']],
      ['fs', 'all'],
      ['fs', 'all', ...fingerprints],
    ])
    refused(404, 'MCP_SERVER_NOT_FOUND', await api.send('POST', '/servers/db/pins', { tools: 'all' }))
    for (const body of [{}, { tools: [] }, { tools: 'some' }, { tools: [''] }, { tools: 'all', fingerprints: ['f'] }])
      refused(400, 'INVALID_REQUEST', await api.send('POST', '/servers/fs/pins', body))
  })
})

describe('with an approver key', () => {
  it('decisions and pins need it, reading does not', async () => {
    api = await startApi({ approver_key: 'only-a-person-knows' })
    const { approval } = await callNeedingConsent(api)
    const wrong = { 'x-guard-approver-key': 'guess' }
    const right = { 'x-guard-approver-key': 'only-a-person-knows' }
    refused(401, 'APPROVER_KEY_REQUIRED', await decide(approval.id, { action: 'allow' }))
    refused(401, 'APPROVER_KEY_REQUIRED', await decide(approval.id, { action: 'allow' }, wrong))
    refused(401, 'APPROVER_KEY_REQUIRED', await api.send('POST', '/servers/fs/pins', { tools: 'all' }))
    assert.equal((await approvals('?status=pending')).approvals.length, 1)
    expecting(200, await decide(approval.id, { action: 'allow' }, right))
    expecting(200, await api.send('POST', '/servers/fs/pins', { tools: 'all' }, right))
    await stop()
  })
})
