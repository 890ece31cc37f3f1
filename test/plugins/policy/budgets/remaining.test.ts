import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Started, startGateway } from 'guard-gateway/test'
import type { BudgetLeft } from '#lib/budget'
import { type FakeProvider, fakeProvider } from '../../../kit/provider.ts'

let provider: FakeProvider
let started: Started
before(async () => {
  provider = await fakeProvider()
  started = await startGateway({ upstream: provider.url, config: 'budgets: { time_zone: Asia/Kathmandu }' })
})
after(async () => {
  await started.close()
  await provider.close()
})

let sent = 0
const send = (project: string, agent: string | undefined, session = `window-${++sent}`) =>
  started.request(
    'POST',
    '/v1/chat/completions',
    { model: 'm', messages: [{ role: 'user', content: `task ${++sent}` }] },
    {
      'x-guard-project-id': project,
      'x-guard-session-id': session,
      ...(agent === undefined ? {} : { 'x-guard-agent-id': agent }),
    },
  )
const rules = [
  { id: 'own', rule_type: 'max_requests', threshold: 10, action: 'flag' },
  { id: 'conversation', rule_type: 'max_requests', threshold: 8, params: { scope: 'thread' }, action: 'flag' },
  { id: 'each', rule_type: 'max_requests', threshold: 4, params: { scope: 'agent', per: 'month' } },
  { id: 'all', rule_type: 'max_tokens', threshold: 1_000_000, params: { scope: 'project', per: 'week' } },
  { id: 'money', rule_type: 'max_cost', threshold: 5_000_000, params: { scope: 'project', per: 'day' } },
  { id: 'off', rule_type: 'max_cost', threshold: 1, enabled: false, params: { scope: 'project', per: 'day' } },
  { id: 'loop', rule_type: 'exact_repeat' },
]
const budgetsAt = async (path: string): Promise<readonly BudgetLeft[]> => {
  const { status, json, text } = await started.request('GET', path)
  assert.equal(status, 200, text)
  return (json as { readonly budgets: readonly BudgetLeft[] }).budgets
}

describe('what is left of budgets', () => {
  let session = ''
  before(async () => {
    await started.request('PUT', '/api/policies/shop', { mode: 'enforce', rules })
    for (let n = 0; n < 3; n++) {
      const { headers } = await send('shop', 'builder', 'of builder')
      session = headers.get('x-guard-session-id') ?? ''
    }
    await send('shop', undefined)
  })

  it('is told of a session, with those of its agent and its project', async () => {
    const budgets = await budgetsAt(`/api/sessions/${session}`)
    assert.deepEqual(
      budgets.map(({ rule_id, scope, per, agent_id, session_id, unit, used, limit, left }) => [
        rule_id,
        scope,
        per,
        agent_id,
        session_id === session,
        unit,
        used,
        limit,
        left,
      ]),
      [
        ['own', 'session', null, 'builder', true, 'requests', 3, 10, 7],
        ['conversation', 'thread', null, 'builder', true, 'requests', 1, 8, 7],
        ['each', 'agent', 'month', 'builder', false, 'requests', 3, 4, 1],
        ['all', 'project', 'week', null, false, 'tokens', budgets[3]?.used, 1_000_000, budgets[3]?.left],
        ['money', 'project', 'day', null, false, 'cost_micro', 0, 5_000_000, 5_000_000],
      ],
    )
    assert.ok((budgets[3]?.used ?? 0) > 0)
    const [own, , each] = budgets
    assert.deepEqual([own?.resets_at, own?.time_zone, own?.action], [null, null, 'flag'])
    // midnight in Kathmandu
    assert.match(each?.resets_at ?? '', /^\d{4}-\d{2}-\d{2}T18:15:00\.000Z$/)
    assert.ok(Date.parse(each?.resets_at ?? '') > Date.now())
    assert.equal(each?.time_zone, 'Asia/Kathmandu')
    assert.deepEqual(await budgetsAt(`/api/sessions/by-external/${encodeURIComponent('of builder')}`), budgets)
  })
  it('is listed by project and agent', async () => {
    const told = async (query: string) =>
      (await budgetsAt(`/api/budgets${query}`)).map(({ project_id, rule_id, agent_id, left }) =>
        [project_id, rule_id, agent_id, rule_id === 'all' ? '' : left].join(' '),
      )
    const all = ['shop each builder 1', 'shop each  3', 'shop all  ', 'shop money  5000000']
    assert.deepEqual(await told('?project_id=shop'), all)
    assert.deepEqual(await told(''), all)
    assert.deepEqual(await told('?project_id=shop&agent_id=reviewer'), [
      'shop each reviewer 4',
      'shop all  ',
      'shop money  5000000',
    ])
    assert.deepEqual(await told('?project_id=bakery'), [])
  })
  it('is refused for what can name no project, and for filters that mean nothing', async () => {
    const code = async (query: string) =>
      ((await started.request('GET', `/api/budgets${query}`)).json as { error: { code: string } }).error.code
    assert.equal(await code('?project_id=a%20b'), 'INVALID_REQUEST')
    assert.equal(await code('?project=shop'), 'UNKNOWN_FILTER')
  })
  it('is on the pages of the session and the policy, and where little is left on that of what continues', async () => {
    const page = async (path: string) => (await fetch(started.url + path, { headers: { accept: 'text/html' } })).text()
    const ofSession = await page(`/sessions/${session}`)
    assert.match(ofSession, /<h2>Budgets it shares<\/h2>/)
    assert.match(ofSession, /agent builder <span class="quiet">in shop<\/span>/)
    assert.match(ofSession, /25 % left of 4 requests this month/)
    // its own stand among its facts: 3 of 10, and none of those of others
    assert.match(ofSession, /<meter max="10" high="8" optimum="0" value="3" aria-label="Requests used">/)
    const ofPolicy = await page('/policies/shop')
    assert.match(ofPolicy, /<h2>What is left<\/h2>/)
    assert.match(ofPolicy, /requests without an agent <span class="quiet">in shop<\/span>/)
    const now = await page('/')
    assert.match(now, /<h2>Budgets of which the least is left<\/h2>/)
    assert.match(now, /agent builder/)
    assert.doesNotMatch(now, /requests without an agent/)
  })
  it('is nothing once a budget is used up, and what was blocked is not in it', async () => {
    for (let n = 0; n < 4; n++) await send('shop', 'builder', 'of builder')
    const each = (await budgetsAt('/api/budgets?project_id=shop&agent_id=builder'))[0]
    assert.deepEqual([each?.used, each?.left], [4, 0])
  })
})
