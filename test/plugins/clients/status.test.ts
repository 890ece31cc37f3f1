import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from 'guard-gateway/test'
import { FakeProvider } from '../../kit/provider.ts'
import { refusingPort } from '../../kit/refusing-port.ts'
import { workplace } from './kit.ts'

const session = (id: string, more: object = {}) => ({
  id,
  project_id: 'demo',
  agent_id: 'coder',
  external_id: null,
  name: null,
  paused: false,
  requests: 3,
  flagged: 1,
  blocked: 0,
  total_tokens: 1_500,
  cost_micro: 21_000,
  last_seen_at: '2026-03-02T12:00:00.000Z',
  ...more,
})

type Work<T> = (ask: () => Promise<unknown>, address: string | undefined) => Promise<T>

const listing = (...sessions: readonly object[]) => ({
  asking: <T>(work: Work<T>) => work(async () => ({ sessions, pricing: { currency: 'EUR' } }), 'http://127.0.0.1:8787'),
})

test('sessions are listed with usage and totals', async (context) => {
  const odd = session('ses_2', { agent_id: 'a\u001b[31m', paused: true, blocked: 2 })
  const { command } = await workplace(context, listing(session('ses_1'), odd))
  const { code, out } = await command('status', [])
  assert.equal(code, 0)
  const [headline, head, first, second] = out.split('\n')
  assert.equal(headline, '2 sessions, 6 requests, 2 flagged, 2 blocked, 1 paused, 3.0k tokens, cost 0.042 EUR')
  assert.match(head ?? '', /^session +agent +project +state +last seen +requests +flagged +blocked +tokens +cost +id$/)
  assert.match(first ?? '', /^ +coder +demo +2026-03-02 12:00:00 +3 +1 +0 +1\.5k +0\.021 +ses_1$/)
  assert.match(second ?? '', / a +demo +paused .* +3 +1 +2 +1\.5k +0\.021 +ses_2$/)
})

test('the mode is that of projects without a policy of their own, with those that differ', async (context) => {
  const policies = [
    { project_id: 'default', mode_in_force: 'enforce' },
    { project_id: 'calm', mode_in_force: 'shadow' },
    { project_id: 'shop', mode_in_force: 'enforce' },
  ]
  const asking = <T>(work: Work<T>) => work(async () => ({ sessions: [], policies }), undefined)
  const { command } = await workplace(context, { asking })
  assert.equal((await command('status', [])).out.split('\n')[1], 'mode enforce; calm shadow')
  assert.equal(JSON.parse((await command('status', [], { json: true })).out).mode, 'enforce')
})

test('what the Playground did counts nowhere', async (context) => {
  const gateway = await startGateway({})
  context.after(() => gateway.close())
  await gateway.request('POST', '/api/demo/run', { scenario: 'exact-loop', mode: 'enforce' })
  const asking = <T>(work: (ask: (method: string, path: string) => Promise<unknown>, at: string) => Promise<T>) =>
    work(async (method, path) => (await gateway.request(method, path)).json, gateway.url)
  const { command } = await workplace(context, { asking: asking as never })
  assert.match((await command('status', [])).out, /^0 sessions, 0 requests, 0 flagged, 0 blocked/)
})

test('upstreams that are not asked, or have keys at rest, are named after the totals', async (context) => {
  const one = { ready: true, circuit: 'closed', failures: 0, wait_seconds: 0 }
  const upstreams = [
    { ...one, name: 'well', keys: { count: 2, resting: 0 } },
    { ...one, name: 'broken', ready: false, circuit: 'open', failures: 5, wait_seconds: 12 },
    { ...one, name: 'tried', circuit: 'half_open', failures: 6 },
    { ...one, name: 'limited', ready: false, wait_seconds: 40 },
    { ...one, name: 'pool', keys: { count: 3, resting: 1 } },
    { ...one, name: 'spent', ready: false, wait_seconds: 9, keys: { count: 2, resting: 2 } },
  ]
  const asking = <T>(work: Work<T>) => work(async () => ({ sessions: [], upstreams }), undefined)
  const { command } = await workplace(context, { asking })
  const { out } = await command('status', [])
  assert.deepEqual(out.split('\n').slice(1, 6), [
    'upstream broken is not asked for another 12 s: it failed 5 times in a row',
    'upstream tried failed 6 times in a row; the next request tries it',
    'upstream limited rests for another 40 s: it refused a request',
    'upstream pool: 1 of 3 keys rest',
    'upstream spent rests for another 9 s: 2 of 2 keys rest',
  ])
  assert.deepEqual(JSON.parse((await command('status', [], { json: true })).out).upstreams, upstreams)
})

const budget = (left: number, more: object = {}) => ({
  rule_id: 'daily',
  rule_type: 'max_cost',
  action: 'block',
  project_id: 'demo',
  scope: 'project',
  per: 'day',
  agent_id: null,
  session_id: null,
  unit: 'cost_micro',
  currency: 'EUR',
  limit: 5_000_000,
  used: 5_000_000 - left,
  left,
  resets_at: '2026-03-02T23:00:00.000Z',
  time_zone: 'Europe/Berlin',
  ...more,
})

test('the tightest budget has its owner, remainder and reset time', async (context) => {
  const told = async (...budgets: readonly object[]) => {
    const asking = <T>(work: Work<T>) => work(async () => ({ sessions: [session('ses_1')], budgets }), undefined)
    const { command } = await workplace(context, { asking })
    return { ...(await command('status', [])), json: JSON.parse((await command('status', [], { json: true })).out) }
  }
  const one = await told(budget(4_100_000))
  assert.equal(one.out.split('\n')[1], '82 % left of 5 EUR today, project demo, until 2026-03-02 23:00 UTC')
  const agents = { scope: 'agent', unit: 'requests', per: 'minute', limit: 60, used: 60, left: 0 }
  const two = await told(budget(4_100_000), budget(0, { ...agents, agent_id: 'a\u001b[31m' }))
  assert.equal(
    two.out.split('\n')[1],
    '0 % left of 60 requests this minute, agent a in project demo, until 2026-03-02 23:00 UTC; the tightest of 2 budgets',
  )
  assert.deepEqual(
    two.json.budgets.map(({ left }: { left: number }) => left),
    [0, 4_100_000],
  )
  const nameless = await told(budget(1, { ...agents, limit: 1000, used: 999, left: 1 }))
  assert.match(
    nameless.out,
    /\nunder 1 % left of 1\.0k requests this minute, requests without an agent in project demo, /,
  )
})

test('a paused session has its reason and the commands to use; an ended one is not listed', async (context) => {
  const why = { paused: true, pause_reason: 'tool_repeat: read_file was called 3 times\u001b[2J' }
  const ended = session('ses_3', { paused: true, ended_at: '2026-03-02T12:00:00.000Z' })
  const listed = listing(session('ses_1'), session('ses_2', why), ended, session('ses_4', { paused: true }))
  const { command } = await workplace(context, listed)
  const { out } = await command('status', [])
  assert.match(out, /^4 sessions, .* 2 paused, /)
  assert.match(out, / ended .* ses_3$/m)
  assert.match(
    out,
    /^ses_2 waits for a person: tool_repeat: read_file was called 3 times[^\u001b\n]*\n {2}\S.* sessions resume ses_2, or sessions end ses_2\nses_4 waits for a person\n {2}\S.* sessions resume ses_4, or sessions end ses_4\n$/m,
  )
  const many = Array.from({ length: 7 }, (_, n) => session(`ses_${n}`, { paused: true }))
  const { out: long } = await (await workplace(context, listing(...many))).command('status', [])
  assert.match(long, /^and 2 more: .* sessions list --paused$/m)
})

test('--json returns the same figures', async (context) => {
  const { command } = await workplace(context, listing(session('ses_1')))
  const told = JSON.parse((await command('status', [], { json: true })).out)
  assert.deepEqual(
    [told.requests, told.cost_micro, told.currency, told.paused, told.sessions.length],
    [3, 21_000, 'EUR', 0, 1],
  )
})

test('a gateway with pages gives the address of the page', async (context) => {
  const served = await workplace(context, listing(session('ses_1')))
  const { out, err } = await served.command('status', [])
  assert.match(out, /^1 session, 3 requests, /)
  assert.equal(err, 'more: http://127.0.0.1:8787/sessions\n')
  const asking = <T>(work: Work<T>) => work(async () => ({ sessions: [session('ses_1')] }), undefined)
  const alone = await workplace(context, { asking })
  assert.equal((await alone.command('status', [])).err, '')
})

test('without requests it prints how to start', async (context) => {
  const { command } = await workplace(context, listing())
  const { out, err } = await command('status', [])
  assert.match(out, /^0 sessions/)
  assert.match(err, /guard run -- claude/)
})

test('the status line shows the tightest budget with a period, and a session budget when little remains', async (context) => {
  const provider = await new FakeProvider().listen()
  context.after(() => provider.close())
  const gateway = await startGateway({ upstream: provider.url })
  context.after(() => gateway.close())
  const { command } = await workplace(context, { address: gateway.url })
  const line = async (tries = 50): Promise<string> => {
    const { out } = await command('statusline', [], {}, [], {}, '{"session_id":"mine"}')
    return out === '\n' && tries > 0 ? line(tries - 1) : out
  }
  const rules = async (...list: readonly object[]) => gateway.request('PUT', '/api/policies/default', { rules: list })
  const month = (threshold: number, scope: string) => ({
    rule_type: 'max_requests',
    threshold,
    params: { scope, per: 'month' },
  })
  const content = (n: number) => ({ model: 'm', messages: [{ role: 'user', content: `task ${n}` }] })
  for (let n = 0; n < 4; n++)
    await gateway.request('POST', '/v1/chat/completions', content(n), {
      'x-guard-session-id': n === 0 ? 'other' : 'mine',
    })
  await rules(
    month(50, 'project'),
    { ...month(25, 'agent'), id: 'each' },
    { rule_type: 'max_requests', id: 'own', threshold: 15 },
  )
  assert.match(await line(), /^guard: shadow, 3 requests, \d+ tokens, cost 0, 84 % left of 25 requests this month\n$/)
  await rules(month(50, 'project'), { rule_type: 'max_requests', id: 'own', threshold: 3 })
  assert.match(await line(), /cost 0, 0 % left of 3 requests in the session\n$/)
})

test('the status line shows mode, usage, cost and the last flag of the session on standard input', async (context) => {
  const provider = await new FakeProvider().listen()
  context.after(() => provider.close())
  const gateway = await startGateway({ upstream: provider.url })
  context.after(() => gateway.close())
  const { command } = await workplace(context, { address: gateway.url })
  // on a busy machine the answer may come too late, which is told by an empty line
  const line = async (typed: string, tries = 50): Promise<string> => {
    const { out } = await command('statusline', [], {}, [], {}, typed)
    return out === '\n' && tries > 0 ? line(typed, tries - 1) : out
  }
  const told = () => line('{"session_id":"of the client/1"}')
  assert.equal(await told(), 'guard: no request yet\n')
  const ask = () =>
    gateway.request(
      'POST',
      '/v1/chat/completions',
      { model: 'm', messages: [{ role: 'user', content: 'again' }] },
      { 'x-guard-session-id': 'of the client/1' },
    )
  await ask()
  const first = /^guard: shadow, 1 request, (\d+) of 100k tokens, cost 0\n$/.exec(await told())
  assert.ok(first, await told())
  await ask()
  await ask()
  const tokens = 3 * Number(first[1])
  assert.equal(
    await told(),
    `guard: shadow, 3 requests, ${tokens} of 100k tokens, cost 0, 1 flagged, last LOOP_EXACT\n`,
  )
  await gateway.request('POST', '/api/sessions/of%20the%20client%2F1/pause')
  assert.match(await told(), /^guard: PAUSED, shadow, 3 requests, /)
  assert.equal(await line('no JSON', 0), '\n')
  await using refusing = await refusingPort()
  const alone = await workplace(context, { address: `http://127.0.0.1:${refusing.port}` })
  const { code, out } = await alone.command('statusline', [], {}, [], {}, '{"session_id":"of the client/1"}')
  assert.deepEqual([code, out], [0, '\n'])
})
