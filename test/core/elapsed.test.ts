import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { elapsed, endedMoment, timeSince } from 'guard-gateway/core'
import { fakeClock } from '../kit/clock.ts'

const jumps = fc.array(fc.oneof(fc.integer({ min: -1e12, max: 1e12 }), fc.constant(0)), { maxLength: 10 })
const waits = fc.array(fc.integer({ min: 0, max: 1e7 }), { maxLength: 10 })

describe('time that has passed', () => {
  it('is that of the monotonic clock, whatever is done to the wall clock', () => {
    fc.assert(
      fc.property(jumps, waits, (jumped, waited) => {
        const clock = fakeClock()
        const begun = { at: clock.now(), tick: clock.tick() }
        let last = begun.at
        let passed = 0
        for (let step = 0; step < Math.max(jumped.length, waited.length); step++) {
          clock.jump(jumped[step] ?? 0)
          clock.advance(waited[step] ?? 0)
          passed += waited[step] ?? 0
          const ended_at = timeSince(clock, begun)
          assert.equal(ended_at - begun.at, passed)
          assert.ok(ended_at >= last)
          last = ended_at
          const now = { at: clock.now(), tick: clock.tick() }
          assert.equal(elapsed(begun, now), passed)
          assert.equal(elapsed(endedMoment(begun, ended_at), now), 0)
        }
      }),
      { seed: 9, numRuns: 200 },
    )
  })
  it('is an integer, and never negative for a monotonic clock of parts of a millisecond, and not behind what has passed', () => {
    assert.equal(timeSince({ now: () => 0, tick: () => 10.4 }, { at: 1000, tick: 6.7 }), 1003)
    assert.equal(timeSince({ now: () => 0, tick: () => 7 }, { at: 1000, tick: 7.2 }), 1000)
  })
  it('is by the wall clock where another process saw one of the moments', () => {
    assert.equal(elapsed({ at: 5 }, { at: 9, tick: 1 }), 4)
    assert.equal(elapsed({ at: 5, tick: 1 }, { at: 9 }), 4)
    assert.deepEqual(endedMoment({ at: 5 }, 9), { at: 9 })
  })
})
