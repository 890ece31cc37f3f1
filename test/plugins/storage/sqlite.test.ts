import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { Table } from 'guard-gateway/core'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { prestartThread } from 'guard-gateway/plugins/storage/sqlite/thread'
import { sha256 } from '#lib/ids'
import { unopenable } from '../../../plugins/storage/sqlite/file/file.ts'
import { openConnection } from '../../../plugins/storage/sqlite/worker/connection.ts'
import { conformanceTables, item, openPlain, storageConforms } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-sqlite-'))
after(() => rmSync(folder, { recursive: true }))
const path = (name: string) => join(folder, name)

storageConforms(sqlite({ file: path('suite.db') }))

/** A file with rows in it, closed. */
const written = async (name: string, rows = 50): Promise<string> => {
  const file = path(name)
  const store = await openPlain(sqlite({ file }))
  await store.write(
    Array.from({ length: rows }, (_, n) => ({
      table: 'conformance_items',
      put: item('g', String(n), { name: `name ${n} ${'x'.repeat(200)}` }),
    })),
  )
  await store.close()
  return file
}
const start = (file: string, tables: readonly Table[] = conformanceTables) =>
  ({ file, tables, synchronous: 'normal', exclusive: false, busy_ms: 5_000, max_pages: 0 }) as const

describe('sqlite: the file', () => {
  it('is for its owner alone, journal included, whatever the umask', async () => {
    const before = process.umask(0)
    const file = path('mode.db')
    const store = await openPlain(sqlite({ file })).finally(() => process.umask(before))
    await store.put('conformance_items', item('g', 'a'))
    for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}.lock`, `${file}.holder`])
      assert.equal(statSync(name).mode & 0o777, 0o600, name)
    await store.close()
  })

  it('is kept by a thread that was started ahead or keeps no file any more; of those one waits, the others end', async () => {
    const threads: Worker[] = []
    const count = (thread: Worker) => threads.push(thread)
    process.on('worker', count)
    const open = (name: string) => openPlain(sqlite({ file: path(name) }))
    prestartThread()
    prestartThread()
    const first = await open('ahead.db')
    const before = threads.length
    const second = await open('behind.db')
    assert.equal(threads.length, before + 1)
    const [ended] = await Promise.all([
      once(threads[before] as Worker, 'exit'),
      first.close().then(() => second.close()),
    ])
    assert.deepEqual(ended, [0])
    writeFileSync(path('no.db'), 'no database')
    await assert.rejects(open('no.db'), { code: 'DATABASE_DAMAGED' })
    for (const name of ['next.db', 'ahead.db']) {
      const store = await open(name)
      await store.put('conformance_items', item('g', name))
      assert.equal((await store.get('conformance_items', ['g', name]))?.id, name)
      await store.close()
    }
    assert.equal(threads.length, before + 1)
    process.off('worker', count)
  })

  it('gets a warning with the remedy if others can read it', async () => {
    const file = await written('wide.db')
    chmodSync(file, 0o644)
    const faults: string[] = []
    const store = await openPlain(sqlite({ file }), (error) => faults.push(String(error)))
    await store.close()
    assert.match(faults.join(), /chmod 600 .*wide\.db/)
  })

  it('is run with every setting that matters', async () => {
    const { db, close } = await openConnection(start(path('settings.db')))
    const read = (name: string) => db.pragma(name, { simple: true })
    const names = [
      'journal_mode',
      'synchronous',
      'busy_timeout',
      'foreign_keys',
      'trusted_schema',
      'cell_size_check',
      'mmap_size',
      'secure_delete',
      'auto_vacuum',
      'journal_size_limit',
      'wal_autocheckpoint',
      'cache_size',
    ]
    assert.deepEqual(names.map(read), ['wal', 1, 5_000, 1, 0, 1, 0, 1, 2, 64 * 1024 * 1024, 0, -4_096])
    close()
    const full = await openConnection({ ...start(path('settings.db')), synchronous: 'full' })
    assert.equal(full.db.pragma('synchronous', { simple: true }), 2)
    full.close()
  })

  it('keeps rows, their order and their tokens from one start to the next', async () => {
    const file = path('again.db')
    const first = await openPlain(sqlite({ file }))
    await first.put('conformance_items', item('g', 'a', { words: ['kept'], total: 5n, data: { x: [1] } }))
    await first.put('conformance_items', item('g', 'b', { words: ['kept'] }))
    await first.close()
    const second = await openPlain(sqlite({ file }))
    const { rows } = await second.find('conformance_items', { search: ['kept'] })
    assert.deepEqual(
      rows.map((row) => [row.id, row.total, row.data]),
      [
        ['b', null, null],
        ['a', 5n, { x: [1] }],
      ],
    )
    await second.close()
  })

  it('grows by tables, columns and indexes and loses nothing', async () => {
    const file = path('grow.db')
    const [small, more]: Table[] = [
      { id: 'things', columns: { id: 'text', size: 'integer' } },
      {
        id: 'things',
        columns: { id: 'text', size: 'integer', label: 'text', words: 'search' },
        indexes: [['label']],
        unique: [['size']],
      },
    ]
    const first = await openConnection(start(file, [small as Table]))
    first.db.exec("insert into things (id, size) values ('a', 1)")
    first.close()
    const second = await openConnection(start(file, [more as Table, { id: 'others', columns: { id: 'text' } }]))
    assert.deepEqual(second.db.prepare('select * from things').all(), [{ recorded: 1, id: 'a', size: 1, label: null }])
    assert.throws(() => second.db.exec("insert into things (id, size) values ('b', 1)"), /UNIQUE/)
    second.close()
    const third = await openConnection(start(file, [small as Table]))
    assert.equal(
      (third.db.prepare('select count(*) as n from sqlite_schema where name = ?').get('others') as { n: number }).n,
      1,
    )
    third.close()
  })
})

describe('sqlite: files it refuses, untouched', () => {
  const refused = async (file: string, code: string, text: RegExp) => {
    const before = sha256(readFileSync(file))
    await assert.rejects(openPlain(sqlite({ file })), (error: Error & { code: string }) => {
      assert.equal(error.code, code)
      assert.match(error.message, text)
      assert.ok(error.message.includes(file))
      return true
    })
    assert.equal(sha256(readFileSync(file)), before)
  }

  it('what is no database', async () => {
    const file = path('text.db')
    writeFileSync(file, 'gateway_key: not a database\n'.repeat(10))
    await refused(file, 'DATABASE_DAMAGED', /not an SQLite database/)
  })

  it('a file shorter than it says', async () => {
    const file = await written('short.db')
    truncateSync(file, statSync(file).size - 4096)
    await refused(file, 'DATABASE_DAMAGED', /cut off/)
  })

  it('an empty file whose journal holds what was written', async () => {
    const file = await written('emptied.db')
    truncateSync(file, 0)
    writeFileSync(`${file}-wal`, 'frames')
    await refused(file, 'DATABASE_DAMAGED', /is empty, and its journal is not/)
    assert.equal(readFileSync(`${file}-wal`, 'utf8'), 'frames')
  })

  it('one whose lock cannot be had', async () => {
    const file = await written('lock.db')
    rmSync(`${file}.lock`)
    mkdirSync(`${file}.lock`)
    await refused(file, 'DATABASE_UNWRITABLE', /lock file .*lock\.db\.lock cannot be used/)
    await assert.rejects(openPlain(sqlite({ file: `${file}.lock` })), /lock is a folder\. Name a file in it/)
  })

  it('overwritten and zeroed pages', async () => {
    for (const fill of [0x00, 0x5a]) {
      const file = await written(`filled${fill}.db`)
      const bytes = readFileSync(file)
      bytes.fill(fill, 4096 * 2, 4096 * 9)
      writeFileSync(file, bytes)
      await refused(file, 'DATABASE_DAMAGED', /damaged/)
    }
  })

  it('one whose journal cannot be used, or for which the disk has no room, which says nothing of the file', async () => {
    const file = await written('unopenable.db')
    mkdirSync(`${file}-wal`)
    await refused(file, 'DATABASE_UNWRITABLE', /cannot be opened: .*Check the folder/)
    const full = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_SHMSIZE' })
    assert.match(unopenable(file, full).message, /cannot be opened: the disk is full\. Free some space/)
  })

  it("another program's database", async () => {
    const file = path('foreign.db')
    new Sqlite(file).exec('create table bookmarks (url text)').close()
    await refused(file, 'DATABASE_DAMAGED', /another program/)
  })

  it('a newer version', async () => {
    const file = await written('newer.db')
    const db = new Sqlite(file)
    db.pragma('user_version = 99')
    db.close()
    await refused(file, 'DATABASE_NEWER', /format 99/)
  })

  it('a newer version whose mark still stands in the journal', async () => {
    const file = await written('newer-wal.db')
    const db = new Sqlite(file)
    db.pragma('wal_autocheckpoint = 0')
    db.pragma('user_version = 98')
    await refused(file, 'DATABASE_NEWER', /format 98/)
    db.close()
  })

  it('a column of another type', async () => {
    const file = path('type.db')
    const { close } = await openConnection(
      start(file, [{ id: 'conformance_notes', columns: { id: 'text', text: 'integer' } }]),
    )
    close()
    await refused(file, 'DATABASE_DAMAGED', /conformance_notes\.text is integer/)
  })
  it('a folder that is not there', () =>
    assert.rejects(openPlain(sqlite({ file: path('none/guard.db') })), {
      code: 'DATABASE_UNWRITABLE',
      message: /none/,
    }))
})
