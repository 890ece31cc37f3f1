import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startService } from 'guard-gateway/test'
import { dialectOf, looping } from '../../../kit.ts'

const dialect = dialectOf('messages')
const PRICES = 'version: 1\ncurrency: EUR\nmodels: { m-1: 400000 }\n'

let service: Awaited<ReturnType<typeof startService>>
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guard-report-'))
  const prices = join(folder, 'prices.yml')
  await writeFile(prices, PRICES)
  service = await startService({ config: `replay: { pricing: ${JSON.stringify(prices)} }` })
  const onlyFlags = { id: 'only-flags', rule_type: 'exact_repeat', threshold: 2, window_size: 8, action: 'flag' }
  const stops = { id: 'stops', rule_type: 'exact_repeat', threshold: 3, window_size: 8, action: 'block' }
  await service.policy({ rules: [onlyFlags, stops] }, 'shop')
  await service.policy({ mode: 'enforce', rules: [stops] }, 'bank')
})
after(async () => {
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const send = (session: string, project: string, turns: number) =>
  service.send(dialect, looping(turns), { 'x-guard-session-id': session, 'x-guard-project-id': project })

interface Report {
  readonly currency: string
  readonly saved: object
  readonly flagged: number
  readonly blocked: number
  readonly blocked_retries: number
  readonly rules: readonly Readonly<Record<string, unknown>>[]
  readonly projects: readonly object[]
  readonly sessions: readonly Readonly<Record<string, unknown>>[]
  readonly more: number
}

const report = async (query = ''): Promise<Report> => {
  const { status, json, text } = await service.request('GET', `/api/v1/report${query}`)
  assert.equal(status, 200, text)
  return json as Report
}

/** 25 tokens, 10 millionths each. */
const since = (requests: number) => ({
  requests_since_flag: requests,
  tokens_since_flag: 25 * requests,
  cost_since_flag_micro: 10 * requests,
})

test('what came since the flag is summed up by rule, project and session; the flagged request is in it, the Playground is not', async () => {
  for (let n = 0; n < 6; n++) await send('burn', 'shop', 1)
  for (let n = 0; n < 2; n++) await send('twice', 'shop', 1)
  await send('fine', 'shop', 1)
  for (let n = 0; n < 6; n++) await send('stopped', 'bank', 1)
  await service.request('POST', '/api/demo/run', { scenario: 'exact-loop', mode: 'shadow' })
  await service.request('POST', '/api/demo/run', { scenario: 'exact-loop', mode: 'enforce' })
  const { saved, flagged, blocked, blocked_retries, rules, projects, sessions, currency, more } = await report()
  assert.deepEqual([flagged, blocked, blocked_retries, currency, more], [6, 1, 3, 'EUR', 0])
  assert.deepEqual(saved, { sessions: 1, ...since(4) }, 'a rule that only flags saves nothing, nor does enforce mode')
  assert.deepEqual(projects, [{ project_id: 'shop', sessions: 1, ...since(4) }])
  const counts = (blocks: number, retries: number, flags: number) => ({
    flagged: flags,
    blocked: blocks,
    blocked_retries: retries,
  })
  const reason = 'LOOP_EXACT'
  assert.deepEqual(rules, [
    { rule_id: 'stops', reason, action: 'block', would_refuse: true, ...counts(1, 3, 4), sessions: 2, ...since(4) },
    {
      rule_id: 'only-flags',
      reason,
      action: 'flag',
      would_refuse: false,
      ...counts(0, 0, 2),
      sessions: 2,
      ...since(2),
    },
  ])
  assert.deepEqual(
    sessions.map((one) => [one.external_id, one.rule_id, one.requests_since_flag, one.cost_micro]),
    [
      ['burn', 'stops', 4, 60],
      ['burn', 'only-flags', 1, 60],
      ['twice', 'only-flags', 1, 20],
      ['stopped', 'stops', 0, 20],
    ],
  )
})

test('the session has the same figures, and its list is filtered by the rule', async () => {
  const view = (await service.session('burn')) as object as Readonly<Record<string, unknown>>
  assert.deepEqual(
    [view.flagged_rule_id, view.flagged_reason, view.flagged_action, view.requests_since_flag],
    ['stops', 'LOOP_EXACT', 'block', 4],
  )
  assert.match(String(view.flagged_at), /^\d{4}-\d\d-\d\dT/)
  const { json } = await service.request('GET', '/api/sessions?rule_id=stops')
  const { sessions } = json as { readonly sessions: readonly { readonly external_id: string }[] }
  assert.deepEqual(
    sessions.map(({ external_id }) => external_id),
    ['burn'],
    'one that was blocked has not gone on after a flag',
  )
  const page = await service.request('GET', `/sessions/${view.id}`, undefined, { accept: 'text/html' })
  assert.match(page.text, /After the flag<\/dt><dd>4 of 6 requests[\s\S]*Enforced, it would have been refused\./)
})

test('a project, a limit and a time narrow it; what is no time is refused', async () => {
  const bank = await report('?project_id=bank')
  assert.deepEqual([bank.saved, bank.blocked], [{ sessions: 0, ...since(0) }, 1])
  const limited = await report('?limit=1')
  assert.deepEqual([limited.sessions.length, limited.more], [1, 3])
  const old = await report('?since=2020-01-01&until=2020-01-02')
  assert.deepEqual([old.rules, old.sessions, old.flagged], [[], [], 0])
  const { status, json } = await service.request('GET', '/api/v1/report?since=someday')
  assert.equal(status, 400)
  assert.match(JSON.stringify(json), /"since\\" is not a time: someday\. Send a day/)
  assert.equal((await service.request('GET', '/api/v1/report?sinse=24h')).status, 400)
})

test('what comes after a person has let the session go on is not counted, until it is flagged again', async () => {
  const { id } = await service.session('burn')
  await service.request('POST', `/api/sessions/${id}/resume`)
  for (let n = 0; n < 2; n++) await send('burn', 'shop', 1)
  const { sessions } = await report('?project_id=shop')
  const burn = sessions.filter((one) => one.session_id === id).map((one) => [one.rule_id, one.requests_since_flag])
  assert.deepEqual(burn, [
    ['stops', 4],
    ['only-flags', 2],
  ])
})
