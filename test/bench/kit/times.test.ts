import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { times, timesAsync } from 'guard-gateway/bench'

describe('times', () => {
  it('repeats the work and reports the time of one repetition', () => {
    const seen: number[] = []
    const { overriddenDuration, overriddenIterationCost } = times(4, (index) => seen.push(index))()
    assert.deepEqual(seen, [0, 1, 2, 3])
    assert.equal(overriddenDuration, overriddenIterationCost / 4)
  })
})

describe('timesAsync', () => {
  it('keeps the given number of operations in progress', async () => {
    let open = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++open)
      await Promise.resolve()
      open--
    }
    await timesAsync(8, work, 4)()
    assert.equal(most, 4)
    most = 0
    const { overriddenDuration, overriddenIterationCost } = await timesAsync(8, work)()
    assert.equal(most, 1)
    assert.equal(overriddenDuration, overriddenIterationCost / 8)
  })
})
