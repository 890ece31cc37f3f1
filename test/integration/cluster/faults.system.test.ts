import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { needsOwnPostgres, PostgresServer, runSql } from '../../kit/postgres.ts'
import { type FakeProvider, fakeProvider } from '../../kit/provider.ts'
import { Relay } from '../../kit/relay.ts'
import { type Answered, Fleet } from './fleet.ts'

const AGENTS = 12
const TEAM_LIMIT = 150
const KILLS = 2
/** Requests that are answered between two faults. */
const EVERY = 40
const rules = [
  { id: 'loop', rule_type: 'exact_repeat', action: 'block', threshold: 3, window_size: 500 },
  {
    ...{ id: 'team', rule_type: 'max_requests', action: 'block', threshold: TEAM_LIMIT },
    params: { scope: 'project', per: 'month' },
  },
]

const isNearLimit = (count: unknown): boolean =>
  typeof count === 'number' && count <= TEAM_LIMIT && count >= TEAM_LIMIT - KILLS * AGENTS

/** Most are new; the others are asked again and again, which the rule lets pass twice. */
const questionOf = (agent: number, asked: number): string =>
  `${agent} asks ${asked - (asked % 3 === 0 ? 0 : asked % 9)}`

describe('processes that are killed, and a database that restarts, is slow and loses answers', needsOwnPostgres, () => {
  let provider: FakeProvider
  let server: PostgresServer
  let relay: Relay
  let fleet: Fleet
  const answers: Answered[] = []
  let cut = 0
  before(async () => {
    provider = await fakeProvider()
    server = await PostgresServer.start()
    relay = await new Relay(server.port).listen()
    const url = new URL(server.url)
    url.port = String(relay.port)
    fleet = await new Fleet(provider.url, url.href).start(3)
    for (const project of ['team', 'free']) {
      const mine = project === 'team' ? rules : rules.slice(0, 1)
      const answer = await fleet.request(0, 'PUT', `/api/policies/${project}`, { mode: 'enforce', rules: mine })
      assert.equal(answer.status, 200, await answer.text())
    }
  })
  after(async () => {
    await fleet.end()
    await relay[Symbol.asyncDispose]()
    await server.remove()
    await provider.close()
  })

  it('let no request hang', async () => {
    const run = { isOver: false, turn: 0 }
    const agents = Array.from({ length: AGENTS }, (_, number) => agent(number, run))
    await Promise.all([
      faults().finally(() => {
        run.isOver = true
      }),
      ...agents,
    ])
    assert.ok(cut > 0, 'no connection was cut')
    const strange = answers.filter(({ status }) => ![200, 409, 429, 503].includes(status))
    assert.deepEqual(strange, [])
  })

  it('leave nothing stuck', async () => {
    // after some seconds what died is found dead, and what a slow network hid is seen again
    for (let waited = 0; (await open()).length > 0 && waited < 100; waited++) await delay(200)
    assert.deepEqual(await open(), [])
    for (let waited = 0; (await instances()) !== 3 && waited < 100; waited++) await delay(200)
    assert.equal(await instances(), 3)
    const status = async (at: number) => (await fleet.chat(at, 'free', `after-${at}`, `${at} still there?`))?.status
    assert.deepEqual([await status(0), await status(1), await status(2)], [200, 200, 200])
  })

  it('lose no record of an answered request, and have none twice', async () => {
    const rows = await runSql(server.url, 'select id from calls')
    const recorded = new Set(rows.map(({ id }) => id))
    assert.equal(recorded.size, rows.length)
    const decided = answers.filter(({ decision }) => decision === 'allow')
    assert.deepEqual(
      decided.filter(({ request_id }) => !recorded.has(request_id)),
      [],
    )
  })

  it('overdraw no budget, and let no loop pass', async () => {
    const [{ passed } = {}] = await runSql(
      server.url,
      "select count(*)::int passed from calls where project_id = 'team' and decision <> 'block'",
    )
    // what a process that is killed has in flight may be counted and never recorded
    assert.ok(isNearLimit(passed), `${passed} passed`)
    const [{ used } = {}] = await runSql(
      server.url,
      "select requests::int used from budget_windows where project_id = 'team' and scope = 'project'",
    )
    assert.ok(isNearLimit(used), `${used} counted`)
    const times = new Map<string, number>()
    for (const { body } of provider.requests) times.set(body.toString(), (times.get(body.toString()) ?? 0) + 1)
    const loops = [...times].filter(([, count]) => count > 2)
    assert.deepEqual(loops, [])
  })

  it('keep sums that agree with the records', async () => {
    const wrong = await runSql(
      server.url,
      `select s.id, s.requests, s.total_tokens, count(c.id)::int as calls, sum(c.total_tokens)::int as tokens
       from sessions s join calls c on c.session_id = s.id and c.decision <> 'block'
       group by s.id, s.requests, s.total_tokens
       having s.requests <> count(c.id) or s.total_tokens <> sum(c.total_tokens)`,
    )
    assert.deepEqual(wrong, [])
    const sums = await runSql(
      server.url,
      `select (select sum(requests)::int from calls_by_hour) as summed, (select count(*)::int from calls) as counted`,
    )
    assert.equal(sums[0]?.summed, sums[0]?.counted)
  })

  /** Asks one question after another, of any gateway. */
  const agent = async (number: number, run: { isOver: boolean; turn: number }): Promise<void> => {
    const project = number % 2 === 0 ? 'team' : 'free'
    for (let asked = 0; !run.isOver; asked++) {
      const answer = await fleet.chat(run.turn++, project, `of-${number % 5}-${project}`, questionOf(number, asked))
      if (answer === undefined) cut++
      else answers.push(answer)
      if (answer === undefined) await delay(20)
    }
  }
  const answeredAfter = async (more: number): Promise<void> => {
    const until = answers.length + more
    while (answers.length < until) await delay(5)
  }
  const faults = async (): Promise<void> => {
    for (let kill = 0; kill < KILLS; kill++) {
      await answeredAfter(EVERY)
      await fleet.replace(kill)
      if (kill % 2 === 1) continue
      await answeredAfter(EVERY)
      await server.stop(kill === 0 ? 'fast' : 'immediate')
      await delay(300)
      await server.run()
    }
    // commits whose answers are lost, then a network that is slow for a while
    let number = 0
    relay.fate = (bytes) =>
      (bytes.includes('COMMIT') || bytes.includes('commit')) && ++number % 25 === 0 ? 'deaf' : 'pass'
    await answeredAfter(2 * EVERY)
    relay.fate = () => 'pass'
    assert.ok(relay.cuts > 0, 'no commit was cut')
    relay.delay_ms = 200
    await answeredAfter(EVERY / 2)
    relay.delay_ms = 0
    await answeredAfter(EVERY)
    while (!answers.some(({ reason }) => reason === 'LIMIT_REQUESTS')) await delay(5)
  }
  const instances = async (): Promise<number> => {
    const answer = await fleet.request(0, 'GET', '/api/instances')
    return ((await answer.json()) as { instances: readonly unknown[] }).instances.length
  }
  const open = () => runSql(server.url, 'select id, instance from open_calls')
})
