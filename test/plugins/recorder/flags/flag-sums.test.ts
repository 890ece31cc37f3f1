import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Call, Decision, Session } from 'guard-gateway/core'
import { aCall, aDecision, aMatch, aSession, blocked, NOON, settled } from '../../../kit/settled.ts'
import { type Bench, startBench } from '../kit.ts'

const flag = (over: Partial<Decision> = {}) =>
  aDecision({
    decision: 'shadow_flag',
    reason: 'LOOP_TOOL_CALL',
    rule_id: 'tool_repeat',
    matches: [aMatch()],
    ...over,
  })
const cost = { cost_micro: 7, cost_source: 'priced', price_version: 'p1' } as const

describe('sums of flags', () => {
  let bench: Bench
  let session: Session
  beforeEach(async () => {
    bench = await startBench()
    session = { ...aSession(), open: 1 }
  })
  afterEach(() => bench.close())

  let made = 0
  const begin = async (at: number, decision = aDecision()): Promise<Call> => {
    const call = aCall({ id: `guardreq_flag${++made}`, at, session })
    await bench.gateway.hooks.decision.promise(decision, call)
    return call
  }
  const end = (call: Call, decision = aDecision()) => bench.settle({ ...settled({ call, decision }), cost })
  const rows = async () => (await bench.gateway.storage.find('flags_by_hour')).rows

  it('count a request that came after the flag and ended before the flagged one', async () => {
    const first = await begin(NOON, flag())
    const second = await begin(NOON + 5)
    await end(second)
    await end(first, flag())
    const stored = await bench.gateway.storage.get('sessions', 'ses_a')
    assert.deepEqual([stored?.flagged_at, stored?.requests_since_flag, stored?.cost_since_flag_micro], [NOON, 2, 14])
    const [row, ...more] = await rows()
    assert.deepEqual(
      [more.length, row?.rule_id, row?.flagged, row?.requests_since_flag, row?.tokens_since_flag],
      [0, 'tool_repeat', 1, 2, 60],
    )
  })

  it('leave out a request that came before the flag and ended after it', async () => {
    const first = await begin(NOON)
    const second = await begin(NOON + 5, flag())
    await end(second, flag())
    await end(first)
    assert.equal(session.row.requests_since_flag, 1)
  })

  it('are written with the record, in one batch, with the totals of the session; a session without a flag has none', async () => {
    await end(await begin(NOON))
    await end(await begin(NOON + 1_000))
    assert.equal((await rows()).length, 0)
    await end(await begin(NOON + 2_000, flag()), flag())
    await end(await begin(NOON + 3_000))
    const tables = bench.writes.map(({ batch }) => batch.map(({ table }) => table).join())
    assert.deepEqual(tables.slice(-2), Array(2).fill('calls,sessions,calls_by_hour,flags_by_hour'))
    assert.doesNotMatch(tables.slice(0, -2).join(), /flags_by_hour/)
  })

  it('count blocks and their repetitions, which cost nothing', async () => {
    const first = await begin(NOON)
    await bench.settle(blocked(first))
    for (let n = 0; n < 2; n++) await bench.settle(blocked(await begin(NOON + n), first.id))
    const [row] = await rows()
    assert.deepEqual([row?.action, row?.blocked, row?.blocked_retries, row?.requests_since_flag], ['block', 1, 2, null])
    assert.equal(session.row.flagged_at, null)
  })

  it('are those of the hour in which a request came', async () => {
    await end(await begin(NOON + 3_599_999, flag()), flag())
    await end(await begin(NOON + 3_600_000))
    assert.deepEqual((await rows()).map((row) => [row.hour, row.requests_since_flag]).sort(), [
      ['2026-03-01T12', 1],
      ['2026-03-01T13', 1],
    ])
  })

  it('leave out the Playground', async () => {
    const call = await begin(NOON, flag())
    await bench.settle({ ...settled({ call, decision: flag(), upstream: 'playground' }), cost })
    assert.equal((await rows()).length, 0)
    assert.equal(session.row.requests_since_flag, 1, 'the page of its session tells it')
  })
})
