import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { Progress } from '../../../plugins/storage/sqlite/ahead/progress.ts'
import type { BatchValues } from '../../../plugins/storage/sqlite/protocol.ts'

const opened = (applied = 0) => {
  const db = new Sqlite(':memory:')
  db.exec(`create table guard_place (database text, applied integer); insert into guard_place values ('x', ${applied})`)
  const progress = new Progress(db, { database: 'x', applied })
  const noted = () => db.prepare('select applied from guard_place').pluck().get()
  const batches = (...ids: number[]): BatchValues[] => ids.map((id) => [id, 0])
  const commit = (...ids: number[]) => {
    progress.note(batches(...ids))
    progress.committed()
  }
  return { progress, noted, batches, commit }
}

describe('sqlite: how far the database is', () => {
  it('is the last batch of all that came, once they are committed', () => {
    const { progress, noted, batches, commit } = opened()
    commit(1, 2, 3)
    assert.deepEqual([progress.applied, noted()], [3, 3])
    progress.note(batches(4))
    assert.equal(progress.applied, 3)
    progress.committed()
    assert.equal(progress.applied, 4)
  })

  it('stays where it was until what failed is written as well', () => {
    const { progress, noted, batches, commit } = opened()
    commit(1)
    progress.note(batches(2, 3))
    progress.failed(batches(2, 3))
    commit(3)
    commit(4)
    assert.equal(progress.applied, 1)
    commit(2)
    assert.deepEqual([progress.applied, noted()], [4, 4])
  })

  it('tells what a thread that died had committed', () => {
    const { progress, batches } = opened(7)
    assert.deepEqual(
      batches(7, 8).map((batch) => progress.isApplied(batch)),
      [true, false],
    )
  })
})
