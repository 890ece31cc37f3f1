import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SlowDown } from '../../../plugins/access/slow-down.ts'

const slowDown = () => {
  const waits: number[] = []
  const clock = { now: 0 }
  const made = new SlowDown(
    () => clock.now,
    async (ms) => void waits.push(ms),
  )
  return { made, waits, clock }
}

describe('answers to failed attempts', () => {
  it('come later each time, up to four seconds, for that address alone', async () => {
    const { made, waits } = slowDown()
    for (let time = 0; time < 12; time++) await made.failed('1.2.3.4')
    assert.deepEqual(waits, [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000])
    await made.failed('5.6.7.8')
    assert.equal(waits.length, 7)
  })
  it('come at once again a minute after the last', async () => {
    const { made, waits, clock } = slowDown()
    for (let time = 0; time < 6; time++) await made.failed('1.2.3.4')
    assert.equal(waits.length, 1)
    clock.now += 60_001
    assert.equal(await made.failed('1.2.3.4'), 1)
    assert.equal(waits.length, 1)
  })
  it('are not put off for more than some at once', async () => {
    const ended = Promise.withResolvers<void>()
    let waiting = 0
    const made = new SlowDown(
      () => 0,
      () => {
        waiting++
        return ended.promise
      },
    )
    const all = Array.from({ length: 300 }, () => made.failed('1.2.3.4'))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(waiting, 200)
    ended.resolve()
    await Promise.all(all)
  })
})
