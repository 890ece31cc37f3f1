import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { createStore } from 'guard-gateway/plugins/store'
import { openDriver } from '../../../plugins/storage/sqlite/driver.ts'
import { conformanceTables, item } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-removed-'))
after(() => rmSync(folder, { recursive: true }))

const removeAll = (file: string): void => {
  for (const end of ['', '-wal', '-shm']) rmSync(file + end)
}

const ways: readonly { readonly what: string; readonly take: (file: string) => void; readonly kept: boolean }[] = [
  { what: 'the database', take: (file) => rmSync(file), kept: false },
  { what: 'its journal', take: (file) => rmSync(`${file}-wal`), kept: true },
  {
    what: 'both, with a backup in their place',
    take: (file) => {
      copyFileSync(file, `${file}.copy`)
      removeAll(file)
      renameSync(`${file}.copy`, file)
    },
    kept: false,
  },
]

describe('sqlite: files that are removed while they are in use', () => {
  for (const [index, { what, take, kept }] of ways.entries()) {
    it(`opens what bears the name, and loses nothing from then on: ${what}`, async () => {
      const file = join(folder, `${index}.db`)
      const faults: string[] = []
      const store = createStore(
        await openDriver(
          conformanceTables,
          { fault: (error) => faults.push(String(error)) },
          {
            file,
            synchronous: 'normal',
            exclusive: true,
            busy_ms: 5_000,
            max_pages: 0,
            slow_ms: 1_000,
            retry_ms: 20,
            look_ms: 20,
          },
        ),
        conformanceTables,
        { redact: { text: (text: string) => text, value: <T>(value: T) => value, judgeId: () => 'plain' as const } },
      )
      await store.put('conformance_items', item('g', 'before'))
      take(file)
      let count = 0
      for (; faults.length === 0; count++) await store.put('conformance_items', item('g', String(count)))
      await store.put('conformance_items', item('g', 'last'))
      assert.match(faults.join(), /was removed or replaced while it was in use/)
      assert.equal(store.state, 'ok')
      // a journal alone takes no history with it that was moved
      assert.equal(
        store.notes.some((note) => /history before that time was removed/.test(note)),
        !kept,
      )
      await store.close()
      const db = new Sqlite(file, { readonly: true })
      const ids = db.prepare('select id from conformance_items order by recorded').pluck().all()
      assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
      db.close()
      // the last one before the fault was not answered when it came, and is written to what was opened
      assert.deepEqual(ids.slice(-2), [String(count - 1), 'last'])
      assert.equal(ids.includes('before'), kept)
    })
  }
})
