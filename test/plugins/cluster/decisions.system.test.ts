import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { decisionOf, type Service, type StartOptions, startService } from 'guard-gateway/test'
import { cleanUpPostgres, needsPostgres, newDatabase } from '../../kit/postgres.ts'
import { sharedMemory } from '../../kit/shared-memory.ts'

const chat = (text: string) => ({ model: 'm-1', messages: [{ role: 'user', content: text }] })
const PATH = '/v1/chat/completions'
const rule = (rule_type: string, more: object) => ({ id: rule_type, rule_type, action: 'block', ...more })

/** Three gateways on one storage, each with a provider of its own. */
const decideTogether = (optionsOf: () => Promise<StartOptions>): void => {
  const services: Service[] = []
  const at = (turn: number): Service => {
    const service = services[turn % services.length]
    if (service === undefined) throw new Error('not started')
    return service
  }
  before(async () => {
    const options = await optionsOf()
    for (let count = 0; count < 3; count++) services.push(await startService(options))
  })
  after(async () => {
    for (const service of services) await service[Symbol.asyncDispose]()
  })

  it('find a loop whose repeats go to different ones', async () => {
    await at(0).policy({ mode: 'enforce', rules: [rule('exact_repeat', { threshold: 3, window_size: 10 })] }, 'loops')
    const headers = { 'x-guard-session-id': 'looping', 'x-guard-project-id': 'loops' }
    const decisions: (string | null)[] = []
    for (let turn = 0; turn < 6; turn++) {
      const answer = await at(turn).request('POST', PATH, chat('again'), headers)
      decisions.push(decisionOf(answer).decision)
    }
    assert.deepEqual(decisions, ['allow', 'allow', 'block', 'block', 'block', 'block'])
    for (const service of services) {
      const { requests, blocked } = await service.session('looping')
      assert.deepEqual([requests, blocked], [2, 1])
    }
  })

  it('never give the last request of a session to two', async () => {
    await at(1).policy({ mode: 'enforce', rules: [rule('max_requests', { threshold: 10 })] }, 'sessions')
    const headers = { 'x-guard-session-id': 'racing', 'x-guard-project-id': 'sessions' }
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, turn) => at(turn).request('POST', PATH, chat(`question ${turn}`), headers)),
    )
    const passed = answers.filter((answer) => decisionOf(answer).decision === 'allow')
    assert.equal(passed.length, 10)
    const { requests, blocked, total_tokens } = await at(2).session('racing')
    assert.deepEqual([requests, blocked], [10, 20])
    assert.ok(total_tokens > 0)
    assert.equal(await sumOf(at(0), 'racing'), total_tokens)
  })

  it('never give the last request of a project to two', async () => {
    const params = { scope: 'project', per: 'month' }
    await at(2).policy({ mode: 'enforce', rules: [rule('max_requests', { threshold: 20, params })] }, 'team')
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, turn) =>
        at(turn).request('POST', PATH, chat(`question ${turn}`), {
          'x-guard-session-id': `of-team-${turn % 7}`,
          'x-guard-project-id': 'team',
        }),
      ),
    )
    assert.equal(answers.filter((answer) => decisionOf(answer).decision === 'allow').length, 20)
    const { json } = await at(1).request('GET', '/api/budgets?project_id=team')
    const [left] = (json as { budgets: readonly { used: number }[] }).budgets
    assert.equal(left?.used, 20)
  })

  it('know at once of a pause, a resume, a policy and a key that another one changed', async () => {
    const headers = { 'x-guard-session-id': 'held', 'x-guard-project-id': 'control', 'x-guard-agent-id': 'worker' }
    const ask = async (turn: number) => decisionOf(await at(turn).request('POST', PATH, chat(`q ${turn}`), headers))
    for (const turn of [0, 1, 2]) assert.equal((await ask(turn)).decision, 'allow')
    await at(0).request('POST', '/api/sessions/held/pause', {})
    for (const turn of [3, 4, 5]) assert.equal((await ask(turn)).reason, 'PAUSED_SESSION')
    await at(1).request('POST', '/api/sessions/held/resume', {})
    for (const turn of [6, 7, 8]) assert.equal((await ask(turn)).decision, 'allow')
    await at(2).request('POST', '/api/agents/worker/pause', {})
    for (const turn of [9, 10, 11]) assert.equal((await ask(turn)).reason, 'PAUSED_AGENT')
    await at(0).request('POST', '/api/agents/worker/resume', {})
    await at(1).policy({ mode: 'enforce', rules: [rule('max_requests', { threshold: 1 })] }, 'control')
    for (const turn of [12, 13, 14]) assert.equal((await ask(turn)).reason, 'LIMIT_REQUESTS')
  })

  it('know at once of a policy of default that another one changed, for projects that have none of their own', async () => {
    const ask = async (turn: number) =>
      decisionOf(
        await at(turn).request('POST', PATH, chat(`q ${turn}`), {
          'x-guard-session-id': `heir ${turn}`,
          'x-guard-project-id': 'heir',
        }),
      )
    for (const turn of [0, 1, 2]) assert.equal((await ask(turn)).decision, 'allow')
    const params = { scope: 'project', per: 'month' }
    await at(1).policy({ mode: 'enforce', rules: [rule('max_requests', { threshold: 4, params })] })
    const decisions: (string | null)[] = []
    for (const turn of [3, 4, 5]) decisions.push((await ask(turn)).decision)
    await at(2).policy({ mode: 'shadow' })
    for (const turn of [6, 7, 8]) decisions.push((await ask(turn)).decision)
    assert.deepEqual(decisions, ['allow', 'block', 'block', 'shadow_flag', 'shadow_flag', 'shadow_flag'])
  })

  it('give an unnamed conversation one session, whichever is asked first', async () => {
    const opening = { role: 'user', content: 'the same opening' }
    const answers = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((turn) => {
        const messages = [opening, { role: 'assistant', content: `${turn}` }, { role: 'user', content: 'and now?' }]
        return at(turn).request('POST', PATH, { model: 'm-1', messages }, { 'x-guard-project-id': 'unnamed' })
      }),
    )
    const ids = new Set(answers.map((answer) => answer.headers.get('x-guard-session-id')))
    assert.equal(ids.size, 1)
  })
}

describe('several gateways on one storage in memory', () => {
  const backend = sharedMemory()
  decideTogether(async () => ({ plugins: [backend], backend: backend.id }))
})

describe('several gateways on one PostgreSQL', needsPostgres, () => {
  decideTogether(async () => ({ backend: 'postgres', storage: `url: "${await newDatabase()}"` }))
  cleanUpPostgres()
})

/** Tokens of all calls on record of a session. */
const sumOf = async (service: Service, session: string): Promise<number> => {
  const { id } = await service.session(session)
  const of = ['total_tokens'] as const
  const [sum] = await service.gateway.gateway.storage.sum('calls', { where: { session_id: id }, by: [], of })
  return sum?.sums.total_tokens ?? 0
}
