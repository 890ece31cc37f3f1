import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FiguresQuery } from '#lib/trace'
import { EndedSums } from '../../../../plugins/recorder/figures/ended-sums.ts'
import { readFigures } from '../../../../plugins/recorder/figures/read.ts'
import { aCall, aSession, NOON, settled } from '../../../kit/settled.ts'
import { startBench } from '../kit.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('sums of hours that have ended', () => {
  it('are asked of the storage once a minute, others each time', async () => {
    const bench = await startBench()
    let now = NOON + 2 * DAY
    const ended = new EndedSums(() => now)
    let asked = 0
    const { storage } = bench.gateway
    const counted = {
      sum: ((...args: Parameters<typeof storage.sum>) => {
        asked++
        return storage.sum(...args)
      }) as typeof storage.sum,
    }
    const requests = async (query: Partial<FiguresQuery> = {}) => {
      asked = 0
      const whole = { since: NOON - DAY, until: now, step: 'day', group: 'none', ...query } as const
      return [(await readFigures(ended.over(counted), whole)).totals.requests, asked]
    }
    let id = 0
    const call = (at: number, over: object = {}) =>
      bench.settle(settled({ call: aCall({ id: `guardreq_${++id}`, at, session: aSession(), ...over }) }))
    await call(NOON)
    assert.deepEqual(await requests(), [1, 4])
    await call(now)
    assert.deepEqual(await requests(), [2, 1], 'the present day is read')
    await call(NOON)
    assert.deepEqual(await requests(), [2, 1], 'a day that has ended is as it was')
    assert.deepEqual(await requests({ project_id: 'lab' }), [0, 4], 'another question is another answer')
    now += 60_000
    assert.deepEqual(await requests(), [3, 4], 'after a minute it is read again')
    now -= DAY
    await call(NOON)
    assert.deepEqual((await requests())[0], 3, 'a clock that was set back keeps nothing')
    await bench.close()
  })
})
