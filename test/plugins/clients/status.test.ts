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

test('sessions are listed with what they spent, and summed', async (context) => {
  const odd = session('ses_2', { agent_id: 'a\u001b[31m', paused: true, blocked: 2 })
  const { command } = await workplace(context, listing(session('ses_1'), odd))
  const { code, out } = await command('status', [])
  assert.equal(code, 0)
  const [headline, head, first, second] = out.split('\n')
  assert.equal(headline, '2 sessions, 6 requests, 2 flagged, 2 blocked, 1 paused, 3.0k tokens, cost 0.042 EUR')
  assert.match(head ?? '', /^last seen \(UTC\) +session +project +agent +requests +flagged +blocked +tokens +cost$/)
  assert.match(first ?? '', /^2026-03-02 12:00:00 {2}ses_1 +demo {5,8}coder +3 +1 +0 +1\.5k +0\.021$/)
  assert.match(second ?? '', /ses_2 +demo {5,8}a +3 +1 +2 +1\.5k +0\.021 {2}paused$/)
})

test('--json gives the same figures', async (context) => {
  const { command } = await workplace(context, listing(session('ses_1')))
  const told = JSON.parse((await command('status', [], { json: true })).out)
  assert.deepEqual(
    [told.requests, told.cost_micro, told.currency, told.paused, told.sessions.length],
    [3, 21_000, 'EUR', 0, 1],
  )
})

test('the page is named where a gateway serves it', async (context) => {
  const served = await workplace(context, listing(session('ses_1')))
  const { out, err } = await served.command('status', [])
  assert.match(out, /^1 session, 3 requests, /)
  assert.equal(err, 'more: http://127.0.0.1:8787/sessions\n')
  const asking = <T>(work: Work<T>) => work(async () => ({ sessions: [session('ses_1')] }), undefined)
  const alone = await workplace(context, { asking })
  assert.equal((await alone.command('status', [])).err, '')
})

test('where nothing was asked yet it tells how to begin', async (context) => {
  const { command } = await workplace(context, listing())
  const { out, err } = await command('status', [])
  assert.match(out, /^0 sessions/)
  assert.match(err, /guard run -- claude/)
})

test('the status line tells mode, use of the budget, cost and the last flag of the session on standard input', async (context) => {
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
