import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { cleanUpPostgres, needsPostgres, newDatabase, runSql } from '../../kit/postgres.ts'
import { type FakeProvider, fakeProvider } from '../../kit/provider.ts'
import { type Service, startService } from '../../kit/service.ts'
import { type Answered, Fleet, seeded } from './fleet.ts'

const AGENTS = 16
const REQUESTS = 20
const TEAM_LIMIT = 120
const loop = { id: 'loop', rule_type: 'exact_repeat', action: 'block', threshold: 3, window_size: 10 }
const most = { id: 'most', rule_type: 'max_requests', action: 'block', threshold: 12 }
const team = {
  ...{ id: 'team', rule_type: 'max_requests', action: 'block', threshold: TEAM_LIMIT },
  params: { scope: 'project', per: 'month' },
}

/** What each agent asks, in order: most of it new, with stretches of the same. */
const script = (agent: number): readonly string[] => {
  const random = seeded(agent + 1)
  const texts: string[] = []
  while (texts.length < REQUESTS) {
    const text = `agent ${agent} asks ${texts.length}`
    const times = random() < 0.2 ? 5 : 1
    for (let time = 0; time < times; time++) texts.push(text)
  }
  return texts.slice(0, REQUESTS)
}

describe('three processes on one database, any request to any of them', needsPostgres, () => {
  let provider: FakeProvider
  let fleet: Fleet
  let alone: Service
  let url = ''
  before(async () => {
    provider = await fakeProvider()
    url = await newDatabase()
    fleet = await new Fleet(provider.url, url).start(3)
    alone = await startService({ config: 'default_mode: enforce' })
  })
  after(async () => {
    await fleet.end()
    await alone[Symbol.asyncDispose]()
    await provider.close()
  })
  cleanUpPostgres()

  const setPolicy = async (project: string, rules: readonly object[]): Promise<void> => {
    const answer = await fleet.request(1, 'PUT', `/api/policies/${project}`, { mode: 'enforce', rules })
    assert.equal(answer.status, 200, await answer.text())
    await alone.policy({ mode: 'enforce', rules }, project)
  }
  const decisions = (answers: readonly (Answered | undefined)[]) =>
    answers.map((answer) => answer && [answer.status, answer.decision, answer.reason])

  it('decide as one process would that got the same requests', async () => {
    await setPolicy('exact', [loop, most])
    const random = seeded(7)
    const together = await Promise.all(
      Array.from({ length: AGENTS }, async (_, agent) => {
        const answers: (Answered | undefined)[] = []
        for (const text of script(agent))
          answers.push(await fleet.chat(Math.floor(random() * 3), 'exact', `agent-${agent}`, text))
        return decisions(answers)
      }),
    )
    for (let agent = 0; agent < AGENTS; agent++) {
      const expected: unknown[] = []
      for (const text of script(agent)) {
        const body = { model: 'm-1', messages: [{ role: 'user', content: text }] }
        const headers = { 'x-guard-project-id': 'exact', 'x-guard-session-id': `agent-${agent}` }
        const answer = await alone.request('POST', '/v1/chat/completions', body, headers)
        expected.push([answer.status, answer.headers.get('x-guard-decision'), answer.headers.get('x-guard-reason')])
      }
      assert.deepEqual(together[agent], expected, `agent ${agent}`)
    }
    const blocked = together.flat().filter((answer) => answer?.[1] === 'block').length
    assert.ok(blocked > AGENTS, `only ${blocked} were blocked`)
  })

  it('overdraw no budget, whoever asks at once', async () => {
    await setPolicy('team', [team])
    const before = provider.requests.length
    const answers = await Promise.all(
      Array.from({ length: AGENTS }, async (_, agent) => {
        const own: (Answered | undefined)[] = []
        for (let turn = 0; turn < 10; turn++)
          own.push(await fleet.chat(agent + turn, 'team', `of-team-${agent % 9}`, `${agent} asks ${turn}`))
        return own
      }),
    )
    const passed = answers.flat().filter((answer) => answer?.decision === 'allow')
    assert.equal(passed.length, TEAM_LIMIT)
    assert.equal(provider.requests.length - before, TEAM_LIMIT)
  })

  it('have each request on record once, and nothing open', async () => {
    const [{ records, ids } = {}] = await runSql(
      url,
      'select count(*)::int records, count(distinct id)::int ids from calls',
    )
    assert.equal(records, ids)
    assert.deepEqual(await runSql(url, 'select id from open_calls'), [])
    const wrong = await runSql(
      url,
      `select s.id, s.requests, s.total_tokens, count(c.id)::int as calls, sum(c.total_tokens)::int as tokens
       from sessions s join calls c on c.session_id = s.id and c.decision <> 'block'
       group by s.id, s.requests, s.total_tokens
       having s.requests <> count(c.id) or s.total_tokens <> sum(c.total_tokens)`,
    )
    assert.deepEqual(wrong, [])
    const [{ summed } = {}] = await runSql(
      url,
      "select sum(requests)::int summed from calls_by_hour where decision <> 'block'",
    )
    const [{ counted } = {}] = await runSql(url, "select count(*)::int counted from calls where decision <> 'block'")
    assert.equal(summed, counted)
    assert.doesNotMatch(fleet.said(), /error|fault/i)
  })
})
