import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import type { Driver } from 'guard-gateway/core'
import { createStore } from 'guard-gateway/plugins/store'
import { Journal } from '../../../plugins/storage/sqlite/checkpoints/journal.ts'
import { Notes, openDriver } from '../../../plugins/storage/sqlite/driver.ts'
import { conformanceTables } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-journal-'))
after(() => rmSync(folder, { recursive: true }))
const redact = { text: (text: string) => text, value: <T>(value: T) => value, judgeId: () => 'plain' as const }
const MIB = 1024 * 1024

const open = async (name: string, max_journal_bytes: number) => {
  const file = join(folder, name)
  const driver: Driver = await openDriver(
    conformanceTables,
    { fault: (error) => assert.fail(String(error)) },
    {
      file,
      max_journal_bytes,
      synchronous: 'normal',
      exclusive: true,
      busy_ms: 5_000,
      max_pages: 0,
      slow_ms: 60_000,
      retry_ms: 20,
    },
  )
  const store = createStore(driver, conformanceTables, { redact })
  let count = 0
  const put = async (options = {}) => {
    const note = { id: String(++count), text: 'x'.repeat(64 * 1024) }
    assert.equal(await store.write([{ table: 'conformance_notes', put: note, when: 'absent' }], options), true)
  }
  return { file, store, put, rows: () => count }
}

/** A program that reads the database in one transaction that does not end. */
const reading = (file: string): Sqlite.Database => {
  const db = new Sqlite(file, { readonly: true })
  db.exec('begin')
  db.prepare('select count(*) from conformance_notes').get()
  return db
}

describe('sqlite: a journal that another program keeps from being moved', () => {
  it('takes so much and no more, counts as a full disk then, and goes on by itself with all that was acknowledged', async () => {
    const { file, store, put, rows } = await open('bounded.db', 4 * MIB)
    await put()
    const reader = reading(file)
    const states: string[] = []
    store.onState((state) => states.push(state))
    let refused: unknown
    let acknowledged = rows()
    while (refused === undefined && rows() < 1_000)
      await put().then(
        () => (acknowledged = rows()),
        (error: unknown) => (refused = error),
      )
    assert.equal((refused as { code?: string }).code, 'STORAGE_FULL')
    assert.equal(store.state, 'full')
    // what is held comes when there is room
    const held = put({ hold: true })
    const length = statSync(`${file}-wal`).size
    assert.ok(length > 4 * MIB && length < 8 * MIB, String(length))
    assert.ok((store.journal_bytes ?? 0) > 3 * MIB)
    const again = new Promise<void>((resolve) => store.onState((state) => state === 'ok' && resolve()))
    reader.exec('rollback')
    reader.close()
    await again
    await held
    assert.ok(statSync(`${file}-wal`).size <= 4 * MIB)
    assert.deepEqual(
      states.filter((state) => state !== 'busy'),
      ['full', 'ok'],
    )
    await put()
    const ids = new Set((await store.find('conformance_notes', { limit: 1000 })).rows.map(({ id }) => id))
    for (let id = 1; id <= acknowledged; id++) assert.ok(ids.has(String(id)))
    await store.close()
  })
  it('is as long as the disk lets it where no limit is set', async () => {
    const { file, store, put } = await open('unbounded.db', 0)
    await put()
    const reader = reading(file)
    for (let count = 0; count < 80; count++) await put()
    assert.equal(store.state, 'ok')
    assert.ok(statSync(`${file}-wal`).size > 4 * MIB)
    reader.close()
    await store.close()
  })
  it('is told when it has changed by much, and not else', () => {
    const file = join(folder, 'told.db')
    const told: number[] = []
    const journal = new Journal({ file }, (bytes) => told.push(bytes))
    journal.measure()
    const name = `${file}-wal`
    const db = new Sqlite(name)
    db.exec('create table t (x)')
    db.close()
    journal.measure()
    journal.measure()
    rmSync(name)
    journal.measure()
    assert.deepEqual(
      told.map((bytes) => bytes > 0),
      [true, false],
    )
  })
  it('is told of in words from 256 MiB on, and no longer than it is so long', () => {
    const notes = new Notes()
    notes.add('first')
    notes.journal_bytes = 256 * MIB - 1
    assert.deepEqual(notes.all, ['first'])
    notes.journal_bytes = 256 * MIB
    assert.match(notes.all[1] ?? '', /^The journal of the database has 268 MB: another program/)
    notes.journal_bytes = 0
    assert.deepEqual(notes.all, ['first'])
  })
})
