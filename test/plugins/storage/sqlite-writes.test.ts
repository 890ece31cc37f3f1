import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import type { BatchValues, ToWorker } from '../../../plugins/storage/sqlite/protocol.ts'
import { State } from '../../../plugins/storage/sqlite/state.ts'
import { Writes } from '../../../plugins/storage/sqlite/writes.ts'

const GAP_MS = 2

/** A queue whose worker is the test: `groups` holds the ids of each message, `answer` answers the last one. */
const queue = () => {
  const groups: number[][] = []
  const post = (message: ToWorker) => {
    if (message.kind === 'write') groups.push(message.batches.map((batch) => Number(batch[0])))
  }
  const writes = new Writes(post, new State(), { slow_ms: 1_000, retry_ms: 1_000, gap_ms: GAP_MS })
  const add = ({ sync = false } = {}) => {
    const values: BatchValues = [0, sync ? 1 : 0]
    return writes.add(values, 8, false)
  }
  const answer = () =>
    writes.answered(
      (groups.at(-1) ?? []).flatMap((id) => [id, 1]),
      [],
    )
  return { writes, groups, add, answer }
}
const turn = () => mock.timers.tick(0)

describe('sqlite: when batches are sent', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] }))
  afterEach(() => mock.timers.reset())

  it('one at a time: each at once', async () => {
    const { groups, add, answer } = queue()
    for (let n = 0; n < 5; n++) {
      const written = add()
      turn()
      assert.equal(groups.length, n + 1)
      answer()
      assert.equal(await written, true)
    }
  })

  it('several under way: groups keep a distance and take what came meanwhile', () => {
    const { groups, add, answer } = queue()
    add()
    turn()
    add()
    answer()
    turn()
    assert.deepEqual(groups, [[1], [2]])
    answer()
    add()
    add()
    turn()
    assert.equal(groups.length, 2)
    add()
    mock.timers.tick(GAP_MS)
    assert.deepEqual(groups, [[1], [2], [3, 4, 5]])
  })

  it('a group that is not answered yet is not overtaken, however long it takes', () => {
    const { groups, add, answer } = queue()
    add()
    add()
    turn()
    add()
    mock.timers.tick(GAP_MS * 10)
    assert.deepEqual(groups, [[1, 2]])
    answer()
    turn()
    assert.deepEqual(groups, [[1, 2], [3]])
  })

  it('the distance ends when batches come one at a time again', async () => {
    const { groups, add, answer } = queue()
    add()
    add()
    turn()
    answer()
    for (let n = 0; n < 10; n++) {
      add()
      mock.timers.tick(GAP_MS)
      answer()
    }
    const before = groups.length
    for (let n = 0; n < 3; n++) {
      add()
      turn()
      answer()
    }
    assert.equal(groups.length, before + 3)
  })

  it('a batch to be synced, a full group and the end do not wait', () => {
    const crowd = () => {
      const made = queue()
      made.add()
      made.add()
      turn()
      made.answer()
      made.add()
      turn()
      assert.equal(made.groups.length, 1)
      return made
    }
    const synced = crowd()
    synced.add({ sync: true })
    turn()
    assert.deepEqual(synced.groups.at(-1), [3, 4])
    const full = crowd()
    for (let n = 0; n < 63; n++) full.add()
    turn()
    assert.equal(full.groups.at(-1)?.length, 64)
    const ending = crowd()
    const ended = ending.writes.end()
    turn()
    assert.deepEqual(ending.groups.at(-1), [3])
    ending.answer()
    return ended
  })
})
