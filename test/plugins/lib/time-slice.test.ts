import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { inTurns, mapPaced, Pace, paced, Upkeep } from '#lib/time-slice'

describe('long work in turns', () => {
  it('lets others have their turn in between, and gives its results in order', async () => {
    let now = 0
    const pace = new Pace(() => now)
    let others = 0
    const turn = (): void => {
      others++
      waiting = setImmediate(turn)
    }
    let waiting = setImmediate(turn)
    const seen: number[] = []
    const results = await mapPaced([1, 2, 3], pace, (item, index) => {
      now += 5
      seen.push(others)
      return item * 2 + index
    })
    assert.deepEqual(results, [2, 5, 8])
    assert.ok(seen[0] === 0 && (seen[1] ?? 0) > 0 && (seen[2] ?? 0) > (seen[1] ?? 0), String(seen))
    const before = others
    await paced(
      seen.map(() => (now += 5)),
      pace,
    )
    assert.ok(others > before)
    clearImmediate(waiting)
  })

  it('does not rest where it is short', async () => {
    let rested = false
    setImmediate(() => {
      rested = true
    })
    await mapPaced([1, 2, 3], new Pace(() => 0), (item) => item)
    assert.equal(rested, false)
  })

  it('rests once for each turn, not after every step from then on', async () => {
    let now = 0
    let rested = 0
    const pace = new Pace(() => now)
    const { rest } = pace
    pace.rest = () => {
      rested++
      return rest.call(pace)
    }
    await mapPaced([5, 1, 1, 3, 1], pace, (ms) => {
      now += ms
    })
    assert.equal(rested, 2)
  })

  it('gives what short steps return at once, and that of long ones after the turns of others', async () => {
    let now = 0
    let others = 0
    function* steps(ms: number): Generator<undefined, number> {
      for (let step = 0; step < 3; step++) {
        now += ms
        setImmediate(() => others++)
        yield
      }
      return others
    }
    assert.equal(inTurns(steps(1), new Pace(() => now)), 0)
    await new Promise(setImmediate)
    others = 0
    const long = inTurns(steps(5), new Pace(() => now))
    assert.ok(long instanceof Promise)
    assert.equal(await long, 3)
  })
})

describe('upkeep', () => {
  it('is done a minute after it begins and once a day, where no other process does it, and ends with its work', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] })
    const gateway = new Gateway()
    const cluster = { leads: true }
    gateway.service('cluster').provide(cluster as never)
    const faults: unknown[] = []
    const { promise: rest, resolve } = Promise.withResolvers<void>()
    const works = [async () => {}, () => Promise.reject(new Error('no')), () => rest]
    let done = 0
    const upkeep = new Upkeep(
      gateway.service('cluster'),
      (error) => void faults.push(String(error)),
      () => works[done++]?.() ?? rest,
    )
    const after = async (ms: number) => {
      test.mock.timers.tick(ms)
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
      return done
    }
    upkeep.begin()
    assert.deepEqual([await after(59_999), await after(1), await after(86_399_999)], [0, 1, 1])
    cluster.leads = false
    assert.equal(await after(1), 1)
    cluster.leads = true
    assert.equal(await after(86_400_000), 2)
    assert.deepEqual(faults, ['Error: no'])
    assert.equal(await after(86_400_000), 3)
    let isOver = false
    const ending = upkeep.end().then(() => {
      isOver = true
    })
    assert.deepEqual([await after(86_400_000), isOver], [3, false])
    resolve()
    await ending
    assert.equal(await after(86_400_000), 3)
  })
})
