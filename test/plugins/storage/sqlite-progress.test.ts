import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { Progress } from '../../../plugins/storage/sqlite/ahead/progress.ts'
import type { BatchValues } from '../../../plugins/storage/sqlite/protocol.ts'

const opened = (applied = 0, left: readonly number[] = []) => {
  const db = new Sqlite(':memory:')
  db.exec(`create table guard_place (database text, applied integer); insert into guard_place values ('x', ${applied})`)
  db.exec('create table guard_left (number integer primary key)')
  const progress = new Progress(db, { database: 'x', applied, left: new Set(left) })
  const noted = () => db.prepare('select applied from guard_place').pluck().get()
  const notedLeft = () => db.prepare('select number from guard_left order by 1').pluck().all()
  const batches = (...ids: number[]): BatchValues[] => ids.map((id) => [id, 0])
  const commit = (...ids: number[]) => {
    progress.note(batches(...ids), [])
    progress.committed()
  }
  return { progress, noted, notedLeft, batches, commit }
}

describe('sqlite: how far the database is', () => {
  it('is the last batch of all that came, once they are committed', () => {
    const { progress, noted, batches, commit } = opened()
    commit(1, 2, 3)
    assert.deepEqual([progress.applied, noted()], [3, 3])
    progress.note(batches(4), [])
    assert.equal(progress.applied, 3)
    progress.committed()
    assert.equal(progress.applied, 4)
  })

  it('stays where it was until what failed is written as well', () => {
    const { progress, noted, notedLeft, batches, commit } = opened()
    commit(1)
    progress.note(batches(2, 3), [])
    progress.failed(batches(2, 3))
    commit(3)
    commit(4)
    assert.deepEqual([progress.applied, noted(), notedLeft()], [1, 4, [2]])
    commit(2)
    assert.deepEqual([progress.applied, noted(), notedLeft()], [4, 4, []])
  })

  it('passes over what does not come again, and what was refused once that is made good', () => {
    const { progress, noted, notedLeft, batches, commit } = opened()
    progress.failed(batches(1))
    progress.note(batches(2, 3), [3])
    progress.committed()
    assert.deepEqual([progress.applied, progress.isBehind, noted(), notedLeft()], [0, false, 3, [1, 3]])
    for (const number of [1, 3]) progress.forget(number)
    assert.equal(progress.isBehind, true)
    commit()
    assert.deepEqual([progress.applied, progress.isBehind, noted(), notedLeft()], [3, false, 3, []])
  })

  it('tells what a thread that died had committed', () => {
    const { progress, batches } = opened(7, [5])
    assert.deepEqual(
      batches(5, 6, 7, 8).map((batch) => progress.isApplied(batch)),
      [false, true, true, false],
    )
  })
})
