import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Storage } from 'guard-gateway/core'
import { type MinuteCalls, minuteCalls } from '../../../../plugins/recorder/figures/minutes.ts'
import { aCall, aSession, NOON, settled } from '../../../kit/settled.ts'
import { startBench } from '../kit.ts'

const MINUTE = 60_000

const collected = async (storage: Pick<Storage, 'sum'>, since: number, until: number) => {
  const calls: MinuteCalls[] = []
  const found = minuteCalls(storage, { since, until, where: {}, columns: ['decision', 'model_requested'] })
  for (;;) {
    const { done, value } = await found.next()
    if (done === true) return { calls, isWhole: value }
    calls.push(value)
  }
}

describe('calls by the minute', () => {
  it('that are equal are counted together, as often as they are', async () => {
    const bench = await startBench()
    const cost = { cost_micro: 7, cost_source: 'priced', price_version: null } as const
    for (let n = 0; n < 3; n++)
      await bench.settle(
        settled({
          call: aCall({ id: `guardreq_${n}`, at: NOON, session: aSession() }),
          ended_at: NOON + 200,
          outcome: 'truncated',
          cost,
        }),
      )
    const { calls, isWhole } = await collected(bench.gateway.storage, NOON - 90 * MINUTE, NOON + MINUTE)
    assert.deepEqual([calls.length, isWhole, calls[0]?.call.model_requested], [1, true, 'm-1'])
    const { requests, errors, duration_ms, took_250ms, took_1s, cost_micro, total_tokens } = calls[0]?.sums ?? {}
    assert.deepEqual([requests, errors, duration_ms, took_250ms, took_1s, cost_micro], [3, 3, 600, 3, 0, 21])
    assert.equal(total_tokens, 90)
    await bench.close()
  })
  it('are read from the newest on, in steps that fit their number, until they are too many', async () => {
    const ranges: (readonly [from: number, to: number])[] = []
    /** A hundred calls each minute, but so many more in the last one. */
    const busy = (calls: number) =>
      ({
        sum: async (_table: string, { where }: { where: { received_at: { gte: number; lt: number } } }) => {
          const { gte, lt } = where.received_at
          ranges.push([(gte - NOON) / MINUTE, (lt - NOON) / MINUTE])
          const rows = ((lt - gte) / MINUTE) * 100 + (lt > NOON + 59 * MINUTE ? calls : 0)
          const by = { received_at: gte, ended_at: gte, decision: 'allow', outcome: 'ok', retries: 0 }
          return [{ by, rows, sums: {} }]
        },
      }) as unknown as Pick<Storage, 'sum'>
    const calm = await collected(busy(0), NOON, NOON + 60 * MINUTE)
    assert.ok(calm.isWhole)
    assert.equal(
      calm.calls.reduce((sum, { sums }) => sum + (sums.requests ?? 0), 0),
      6_000,
    )
    assert.deepEqual(ranges.slice(0, 3), [
      [52, 60],
      [36, 52],
      [28, 36],
    ])
    ranges.length = 0
    const much = await collected(busy(30_000), NOON, NOON + 60 * MINUTE)
    assert.deepEqual([much.isWhole, ranges], [false, [[52, 60]]])
  })
})
