import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SessionRow } from 'guard-gateway/core'
import { aSessionRow } from '../../../kit/settled.ts'
import { type Bench, startBench } from '../kit.ts'

let bench: Bench
before(async () => {
  bench = await startBench()
  const unknown = { requests_since_flag: null, tokens_since_flag: null, cost_since_flag_micro: null }
  const now = bench.gateway.clock.now()
  const put = (id: string, more: Partial<SessionRow>) =>
    bench.gateway.storage.put('sessions', { ...aSessionRow({ last_seen_at: now, flagged: 4, ...more }), id })
  await put('ses_old', unknown)
  await put('ses_older', { ...unknown, last_seen_at: now - 30 * 86_400_000 })
  await put('ses_well', { ...unknown, flagged: 0 })
  await put('ses_new', {})
})
after(() => bench.close())

test('the report says how many flagged sessions an earlier version recorded, whose cost is not known', async () => {
  const told = async (query: string) =>
    (await bench.app.inject(`/api/v1/report${query}`)).json<{ readonly unknown_sessions: number }>().unknown_sessions
  assert.deepEqual([await told(''), await told('?since=60d'), await told('?project_id=other')], [1, 2, 0])
})
