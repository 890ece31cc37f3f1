import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { openPlain } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-kill-'))
after(() => rmSync(folder, { recursive: true }))

/** Writes in a child until so many pairs are acknowledged, then kills it; the numbers it printed whole. */
const writeUntilKilled = async (file: string, first: number, pairs: number, how: string): Promise<number[]> => {
  const child = spawn(
    process.execPath,
    [
      ...process.execArgv.filter((arg) => !arg.startsWith('--test')),
      join(import.meta.dirname, 'kill-writer.ts'),
      file,
      String(first),
      how,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let text = ''
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    seen += chunk.split('\n').length - 1
    if (seen >= pairs) child.kill('SIGKILL')
  })
  const [, signal] = await once(child, 'close')
  assert.equal(signal, 'SIGKILL')
  return text.slice(0, text.lastIndexOf('\n')).split('\n').map(Number)
}

const ids = (db: Sqlite.Database, text: string): Set<string> => new Set(db.prepare(text).pluck().all() as string[])

describe('sqlite: a process killed while it writes', () => {
  const kills = [
    { how: 'committed', pairs: 37 },
    { how: 'committed', pairs: 583 },
    { how: 'early', pairs: 211 },
    // so many that the logs are written over
    { how: 'early', pairs: 3_701 },
  ]
  for (const [round, { how, pairs }] of kills.entries()) {
    it(`loses nothing it acknowledged and keeps no half batch, after ${pairs} pairs: ${how}`, async () => {
      const file = join(folder, `${how}.db`)
      const acknowledged = await writeUntilKilled(file, round * 100_000, pairs, how)
      assert.ok(acknowledged.length >= pairs)
      // the lock of the killed process is free, and the file opens without complaint
      const store = await openPlain(sqlite({ file }))
      assert.equal((await store.find('conformance_items', { search: [`w${acknowledged.at(-1)}`] })).rows.length, 1)
      await store.close()
      const db = new Sqlite(file, { readonly: true })
      const items = ids(db, `select id from conformance_items where "group" = 'kill'`)
      assert.deepEqual(ids(db, 'select id from conformance_notes'), items)
      assert.deepEqual(
        acknowledged.filter((n) => !items.has(String(n))),
        [],
      )
      // what each batch adds is there exactly where its rows are
      const added = db.prepare(`select sum(count) from conformance_items where "group" = 'sums'`).pluck().get()
      const written = db.prepare(`select sum(count) from conformance_items where "group" = 'kill'`).pluck().get()
      assert.equal(added, written)
      assert.equal(db.pragma('integrity_check', { simple: true }), 'ok')
      db.close()
    })
  }
})
