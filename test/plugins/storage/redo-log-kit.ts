import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import Sqlite from 'better-sqlite3'
import type { Change, Storage } from 'guard-gateway/core'
import { createStore } from 'guard-gateway/plugins/store'
import { type DriverOptions, openDriver } from '../../../plugins/storage/sqlite/driver.ts'
import { conformanceTables, item } from '../../conformance/storage.ts'

export const LOGS = ['-ahead-a', '-ahead-b']
const plain = { text: (text: string) => text, value: <T>(value: T) => value, judgeId: () => 'plain' as const }

/** A folder of databases for the tests of one file; gone with them. */
export const redoLogFixture = () => {
  const folder = mkdtempSync(join(tmpdir(), 'guard-ahead-'))
  const opened: (() => Promise<void>)[] = []
  after(async () => {
    await Promise.all(opened.map((close) => close()))
    rmSync(folder, { recursive: true })
  })

  const open = async (file: string, options: Partial<DriverOptions> = {}) => {
    const faults: string[] = []
    const driver = await openDriver(
      conformanceTables,
      { fault: (error) => faults.push(String(error)) },
      {
        ...{ file, synchronous: 'normal', exclusive: true, busy_ms: 60_000, max_pages: 0, slow_ms: 60_000 },
        ...{ retry_ms: 20, ...options },
      },
    )
    const store = createStore(driver, conformanceTables, { redact: plain })
    const close = () => store.close()
    opened.push(close)
    return { store, faults, close }
  }

  /** A store whose database another program has locked: nothing is committed until `release`. */
  const locked = async (name: string, options: Partial<DriverOptions> = {}) => {
    const file = join(folder, name)
    const bench = await open(file, options)
    await bench.store.put('conformance_items', item('g', 'old', { count: 1 }))
    const lock = new Sqlite(file)
    lock.exec('begin immediate')
    const refused: string[] = []
    /** Writes a batch that is answered before its commit. If it is refused, the name of its first row is put into `refused`. */
    const write = (name: string, ...changes: Change[]) =>
      bench.store.write([{ table: 'conformance_items', put: item('g', name) }, ...changes], {
        onRefused: () => void refused.push(name),
      })
    const release = () => {
      lock.exec('rollback')
      lock.close()
    }
    return { ...bench, file, write, release, refused }
  }

  /** A copy of the files, as a process that dies now would leave them. */
  const copied = (file: string, name: string): string => {
    const copy = join(folder, name)
    for (const end of ['', '-wal', ...LOGS]) if (existsSync(file + end)) copyFileSync(file + end, copy + end)
    return copy
  }

  return { folder, open, locked, copied }
}

export const idsIn = async ({ store }: { readonly store: Storage }): Promise<string> =>
  (await store.find('conformance_items', { order: ['recorded', 'asc'], limit: 200 })).rows.map(({ id }) => id).join(' ')

export const failing: Change = {
  table: 'conformance_items',
  key: ['g', 'old'],
  patch: { count: 3 },
  expected: { count: 2 },
}
