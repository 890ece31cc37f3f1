import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { Checkpoints } from '../../../plugins/storage/sqlite/checkpoints.ts'
import { openDatabase } from '../../../plugins/storage/sqlite/database.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-checkpoints-'))
after(() => rmSync(folder, { recursive: true }))

const opened = async (name: string) => {
  const file = join(folder, name)
  const { db, close } = await openDatabase({
    file,
    tables: [],
    synchronous: 'normal',
    exclusive: false,
    address: '',
    busy_ms: 100,
    max_pages: 0,
  })
  db.exec('create table filled (filler blob)')
  const checkpoints = new Checkpoints(db)
  const insert = db.prepare('insert into filled values (zeroblob(400000))')
  /** Commits about 100 pages. */
  const commit = (busy = false) => {
    insert.run()
    checkpoints.committed(busy)
  }
  const journalPages = () => (db.prepare('pragma wal_checkpoint(noop)').raw().get() as number[])[1] ?? 0
  return { file, close, commit, journalPages }
}

describe('sqlite: checkpoints', () => {
  it('keep the journal short, however much is written', async () => {
    const { close, commit, journalPages } = await opened('short.db')
    let longest = 0
    for (let n = 0; n < 60; n++) {
      commit()
      longest = Math.max(longest, journalPages())
    }
    assert.ok(longest > 500 && longest < 1_300, `${longest} pages`)
    close()
  })

  it('come less often while commits are shared', async () => {
    const { close, commit, journalPages } = await opened('busy.db')
    let longest = 0
    for (let n = 0; n < 60; n++) {
      commit(true)
      longest = Math.max(longest, journalPages())
    }
    assert.ok(longest > 3_500 && longest < 4_300, `${longest} pages`)
    commit()
    commit()
    assert.ok(journalPages() < 500, `${journalPages()} pages`)
    close()
  })

  it('go on beside a read that holds pages back, and make up for it afterwards', async () => {
    const { file, close, commit, journalPages } = await opened('held.db')
    const reader = new Sqlite(file, { readonly: true })
    reader.exec('begin; select count(*) from filled')
    for (let n = 0; n < 25; n++) commit()
    assert.ok(journalPages() > 2_000)
    reader.exec('commit')
    reader.close()
    for (let n = 0; n < 12; n++) commit()
    assert.ok(journalPages() < 1_300, `${journalPages()} pages`)
    close()
  })
})
