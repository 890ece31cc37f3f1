import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import type { BatchValues } from '../../../plugins/storage/sqlite/protocol.ts'
import { Progress } from '../../../plugins/storage/sqlite/redo-log/progress.ts'

const opened = (applied = 0, pending: readonly number[] = []) => {
  const db = new Sqlite(':memory:')
  db.exec(`create table guard_place (database text, applied integer); insert into guard_place values ('x', ${applied})`)
  db.exec('create table guard_left (number integer primary key)')
  const progress = new Progress(db, { database: 'x', applied, pending: new Set(pending) })
  const noted = () => db.prepare('select applied from guard_place').pluck().get()
  const savedPending = () => db.prepare('select number from guard_left order by 1').pluck().all()
  const batches = (...ids: number[]): BatchValues[] => ids.map((id) => [id, 0])
  const commit = (...ids: number[]) => {
    progress.record(batches(...ids), [])
    progress.committed()
  }
  return { progress, noted, savedPending, batches, commit }
}

describe('sqlite: how far the database is', () => {
  it('is the last batch of all that came, once they are committed', () => {
    const { progress, noted, batches, commit } = opened()
    commit(1, 2, 3)
    assert.deepEqual([progress.applied, noted()], [3, 3])
    progress.record(batches(4), [])
    assert.equal(progress.applied, 3)
    progress.committed()
    assert.equal(progress.applied, 4)
  })

  it('stays where it was until what failed is written as well', () => {
    const { progress, noted, savedPending, batches, commit } = opened()
    commit(1)
    progress.record(batches(2, 3), [])
    progress.failed(batches(2, 3))
    commit(3)
    commit(4)
    assert.deepEqual([progress.applied, noted(), savedPending()], [1, 4, [2]])
    commit(2)
    assert.deepEqual([progress.applied, noted(), savedPending()], [4, 4, []])
  })

  it('passes over what does not come again, and what was refused once that is made good', () => {
    const { progress, noted, savedPending, batches, commit } = opened()
    progress.failed(batches(1))
    progress.record(batches(2, 3), [3])
    progress.committed()
    assert.deepEqual([progress.applied, progress.isUnsaved, noted(), savedPending()], [0, false, 3, [1, 3]])
    for (const number of [1, 3]) progress.forget(number)
    assert.equal(progress.isUnsaved, true)
    commit()
    assert.deepEqual([progress.applied, progress.isUnsaved, noted(), savedPending()], [3, false, 3, []])
  })

  it('tells what a thread that died had committed', () => {
    const { progress, batches } = opened(7, [5])
    assert.deepEqual(
      batches(5, 6, 7, 8).map((batch) => progress.isApplied(batch)),
      [false, true, true, false],
    )
  })
})
