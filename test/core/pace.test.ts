import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mapPaced, Pace, paced } from 'guard-gateway/core'

/** Holds the thread for longer than a turn. */
const hold = (): void => {
  const until = performance.now() + 6
  while (performance.now() < until);
}

describe('long work in turns', () => {
  it('lets others have their turn in between, and gives its results in order', async () => {
    let others = 0
    const turn = (): void => {
      others++
      waiting = setImmediate(turn)
    }
    let waiting = setImmediate(turn)
    const seen: number[] = []
    const doubled = await mapPaced([1, 2, 3], new Pace(), (item, index) => {
      hold()
      seen.push(others)
      return item * 2 + index
    })
    assert.deepEqual(doubled, [2, 5, 8])
    assert.ok((seen[1] ?? 0) > (seen[0] ?? 0) && (seen[2] ?? 0) > (seen[1] ?? 0), String(seen))
    const before = others
    await paced(
      (function* () {
        hold()
        yield
        hold()
        yield
      })(),
      new Pace(),
    )
    assert.ok(others > before + 1)
    clearImmediate(waiting)
  })

  it('does not rest where it is short', async () => {
    let rested = false
    const pace = new Pace()
    setImmediate(() => {
      rested = true
    })
    await mapPaced([1, 2, 3], pace, (item) => item)
    assert.equal(rested, false)
  })
})
