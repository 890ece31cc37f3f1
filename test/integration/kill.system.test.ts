import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { type ChildGateway, startChildGateway } from '../kit/child-gateway.ts'
import { type Dialect, dialectOf, dialects, productive, type Step } from '../kit/dialogue.ts'
import { type FakeProvider, fakeProvider } from '../kit/provider.ts'

const ROUNDS = [
  { name: 'early', acknowledged: 9 },
  { name: 'later', acknowledged: 58 },
  { name: 'in full swing', acknowledged: 131 },
]
const WORKERS = 8

/** What a client was told to its end. */
interface Acknowledged {
  readonly request: string
  readonly session: string
}

interface Summed {
  readonly trace_id: string
  readonly n: number
  readonly t: number
}

describe('a gateway killed under load', () => {
  let folder = ''
  let provider: FakeProvider
  let gateway: ChildGateway | undefined
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-killed-'))
    provider = await fakeProvider()
  })
  after(async () => {
    await gateway?.end('SIGKILL')
    await provider.close()
    await rm(folder, { recursive: true, force: true })
  })

  const start = async (): Promise<ChildGateway> => {
    gateway = await startChildGateway(folder, provider.url, 'default_mode: enforce')
    return gateway
  }
  const post = (path: string, body: object | undefined, headers: Record<string, string> = {}, method = 'POST') =>
    fetch((gateway?.url ?? '') + path, {
      method,
      headers: {
        ...(headers['x-api-key'] === undefined ? { 'x-guard-key': gateway?.key ?? '' } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const send = (dialect: Dialect, steps: readonly Step[], headers: Record<string, string>, stream = false) =>
    post(dialect.path, dialect.body(steps, { stream }), headers)

  /** Sessions that grow until the gateway is gone; every reply that came to its end is noted. */
  const work = async (worker: number, round: number, note: (told: Acknowledged) => void): Promise<void> => {
    const dialect = dialects[worker % 3] ?? assert.fail()
    const external = `round-${round}-worker-${worker}`
    for (let turns = 0; turns < 45; turns++) {
      try {
        const steps = productive(turns).map((step) => ('user' in step ? { user: `${step.user} ${external}` } : step))
        const answer = await send(dialect, steps, { 'x-guard-session-id': external }, turns % 2 === 0)
        const text = await answer.text()
        assert.equal(answer.status, 200, text)
        note({
          request: answer.headers.get('x-guard-request-id') ?? '',
          session: answer.headers.get('x-guard-session-id') ?? '',
        })
      } catch (error) {
        // the connection broke: nobody was told anything
        if (error instanceof assert.AssertionError) throw error
        return
      }
    }
  }

  for (const [round, { name, acknowledged: wanted }] of ROUNDS.entries())
    it(`has on record whatever ended for a client: ${name}, after ${wanted} replies`, async () => {
      const { end } = gateway ?? (await start())
      const told: Acknowledged[] = []
      let ended: Promise<unknown> | undefined
      const note = (one: Acknowledged): void => {
        told.push(one)
        if (told.length === wanted) ended = end('SIGKILL')
      }
      await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker, round, note)))
      assert.deepEqual(await ended, [null, 'SIGKILL'])
      // what was in the killed one's logs is written by the next
      await start()

      const db = new Sqlite(join(folder, 'guard.db'), { readonly: true })
      assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
      const call = db.prepare('select outcome, decision from calls where id = ? and session_id = ?')
      for (const { request, session } of told)
        assert.deepEqual(call.get(request, session), { outcome: 'ok', decision: 'allow' }, `${request} is missing`)
      db.close()
    })

  it('shows each session with all that is on record of it', () => {
    const db = new Sqlite(join(folder, 'guard.db'), { readonly: true })
    const recorded = db
      .prepare(
        'select session_id id, count(*) requests, sum(total_tokens) total_tokens from calls group by session_id order by 1',
      )
      .all()
    const stored = db.prepare('select id, requests, total_tokens from sessions order by id').all()
    db.close()
    assert.ok(stored.length > WORKERS)
    assert.deepEqual(stored, recorded)
  })

  it('shows each run with all that is on record of it', async () => {
    const shown = new Map<string, readonly [requests: number, tokens: number]>()
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = (await (await post(`/api/v1/runs?limit=200&cursor=${cursor}`, undefined, {}, 'GET')).json()) as {
        runs: readonly { trace_id: string; event_count: number; total_tokens: number }[]
        next_cursor: string | null
      }
      for (const { trace_id, event_count, total_tokens } of page.runs) shown.set(trace_id, [event_count, total_tokens])
      cursor = page.next_cursor
    }
    const db = new Sqlite(join(folder, 'guard.db'), { readonly: true })
    const recorded = db.prepare('select trace_id, count(*) n, sum(total_tokens) t from calls group by trace_id').all()
    db.close()
    assert.deepEqual(shown, new Map((recorded as Summed[]).map(({ trace_id, n, t }) => [trace_id, [n, t]])))
  })

  it('knows windows, budgets, error streaks, pauses, policies and keys as before', async () => {
    const chat = dialectOf('chat_completions')
    const ask = async (user: string, headers: Record<string, string>) => {
      const answer = await send(chat, [{ user }], headers)
      const { error } = (await answer.json()) as { error?: { code: string } }
      return [answer.status, error?.code]
    }
    const inSession = (id: string) => ({ 'x-guard-session-id': id })
    const spending = { ...inSession('spent'), 'x-guard-project-id': 'thrifty' }
    const failing = { status: 500, body: '{"error":{"type":"server_error","message":"broken 17"}}' }

    if (gateway === undefined) await start()
    const rules = [{ rule_type: 'max_requests', threshold: 2 }]
    assert.equal((await post('/api/policies/thrifty', { mode: 'enforce', rules }, {}, 'PUT')).status, 200)
    const { key } = (await (await post('/api/agents', { id: 'builder' })).json()) as { key: string }
    for (const n of [1, 2]) {
      assert.deepEqual(await ask('the same', inSession('looping')), [200, undefined])
      assert.deepEqual(await ask(`task ${n}`, spending), [200, undefined])
    }
    provider.script(...Array.from({ length: 5 }, () => failing))
    for (let n = 0; n < 5; n++) assert.equal((await ask(`try ${n}`, inSession('failing')))[0], 500)
    assert.deepEqual(await ask('hello', inSession('halted')), [200, undefined])
    assert.deepEqual(await ask('hello', { 'x-api-key': key, ...inSession('by-agent') }), [200, undefined])
    assert.equal((await post('/api/sessions/halted/pause', undefined)).status, 200)
    assert.equal((await post('/api/agents/builder/pause', undefined)).status, 200)
    await gateway?.end('SIGKILL')

    const { url, said } = await start()
    const forwarded = provider.requests.length
    assert.deepEqual(await ask('the same', inSession('looping')), [429, 'LOOP_EXACT'])
    assert.deepEqual(await ask('task 3', spending), [429, 'LIMIT_REQUESTS'])
    assert.deepEqual(await ask('try 6', inSession('failing')), [429, 'LOOP_ERROR_RETRY'])
    assert.deepEqual(await ask('hello again', inSession('halted')), [409, 'PAUSED_SESSION'])
    assert.deepEqual(await ask('hello again', { 'x-api-key': key, ...inSession('by-agent') }), [409, 'PAUSED_AGENT'])
    assert.equal(provider.requests.length, forwarded, 'nothing went to the provider')
    assert.equal((await fetch(`${url}/api/health`)).status, 200)
    const end = gateway?.end('SIGTERM')
    gateway = undefined
    assert.deepEqual(await end, [0, null], said())
  })
})
