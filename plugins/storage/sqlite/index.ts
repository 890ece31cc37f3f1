import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { Database } from 'better-sqlite3'
import { GuardError, type Plugin, type StorageBackend, storage } from 'guard-gateway/core'
import { type Command, commandKind } from '#lib/command'
import { databaseErrors, writeError } from '#lib/errors'
import { bytesText } from '#lib/format'
import { openDriver } from './driver.ts'
import { unopenable } from './file/file.ts'
import { noteHolder } from './file/holder.ts'
import { realPath } from './file/path.ts'
import { logFiles } from './redo-log/format.ts'
import { isCorruption, isFull, isUnopenable } from './sqlite-errors.ts'

export interface SqliteOptions {
  /** `guard.db` if absent. */
  readonly file?: string
  /** What a commit survives: `normal` the death of the process, `full` also a power cut. A change marked `sync` always survives both. */
  readonly synchronous?: 'normal' | 'full'
  /** Refuse to open while another gateway has the file; true if absent. Storage that is opened with `beside` never refuses. */
  readonly exclusive?: boolean
  /** Nothing is written while the journal has more bytes than this. Only the disk limits it if absent or null. */
  readonly max_journal_bytes?: number | null
}

/** Storage in one SQLite file. One worker thread has it open, so that the event loop never waits for a disk. */
export const sqlite = ({
  file = 'guard.db',
  synchronous = 'normal',
  exclusive = true,
  max_journal_bytes = null,
}: SqliteOptions = {}): StorageBackend & Plugin => {
  let isHeld = false
  const backend = storage({
    id: 'sqlite',
    async open(tables, context) {
      const alone = exclusive && context.beside !== true
      const driver = await openDriver(tables, context, {
        file: realPath(file),
        synchronous,
        exclusive: alone,
        max_journal_bytes: max_journal_bytes ?? 0,
        busy_ms: 5_000,
        max_pages: 0,
        slow_ms: 1_000,
        retry_ms: 1_000,
      })
      isHeld = alone
      return driver
    },
  })
  return {
    ...backend,
    apply(gateway) {
      backend.apply(gateway)
      for (const command of storageCommands(file)) gateway.registry(commandKind).add(command)
      // a second gateway that is refused names this address, and commands call it
      gateway.hooks.listen.tap(backend.name, (url) => {
        if (isHeld) noteHolder(realPath(file), url)
      })
    },
  }
}

/** The address of the gateway that has the database `file` open; undefined if no gateway has it, or it does not listen. */
export const holdersAddress = async (file: string): Promise<string | undefined> => {
  const { holderOf } = await import('./file/lock.ts')
  return holderOf(realPath(file))?.address || undefined
}

/** The commands `guard storage …` for a database file, whether or not a gateway uses it. */
const storageCommands = (file: string): readonly Command[] => [
  {
    id: 'storage check',
    summary: 'read the whole database through and say whether it is sound',
    example: ['guard storage check', 'guard storage check --config other.yml'],
    run: async ({ options }, { out, cwd }) => {
      const database = existing(file, cwd)
      const found = await withReadonly(database, (db) => String(db.pragma('integrity_check(1)', { simple: true })))
      if (found !== 'ok') throw unsound(database, found)
      const bytes = bytesOf(database)
      if (options.json === true) out.write(`${JSON.stringify({ file: database, bytes, sound: true })}\n`)
      else out.write(`${relative(cwd, database)} is sound, ${bytesText(bytes)}\n`)
      return 0
    },
  },
  {
    id: 'storage backup',
    args: '<file>',
    summary: 'write a copy of the database to a new file, also while a gateway uses it',
    example: ['guard storage backup guard-2026-01-31.db', 'guard storage backup "/backups/guard-$(date +%F).db"'],
    run: async ({ args: [name = ''], options }, { out, err, cwd }) => {
      const database = existing(file, cwd)
      const target = resolve(cwd, name)
      create(target, name)
      try {
        await withReadonly(database, (db) => db.prepare('vacuum into ?').run(target))
      } catch (error) {
        rmSync(target, { force: true })
        throw isFull(error) ? writeError(name, { code: 'ENOSPC' }) : error
      }
      const bytes = bytesOf(target)
      if (options.json === true) out.write(`${JSON.stringify({ file: target, bytes })}\n`)
      else if (options.quiet !== true) err.write(`wrote ${name}, ${bytesText(bytes)}\n`)
      return 0
    },
  },
  {
    id: 'storage restore',
    args: '<file>',
    summary: 'put a backup in the place of the database, which is kept under another name; stop the gateway first',
    example: ['guard storage restore guard-2026-01-31.db', 'guard storage restore /backups/guard.db --json'],
    run: async ({ args: [backup = ''], options }, { out, err, cwd }) => {
      const { restore } = await import('./restore.ts')
      const done = await restore({ backup, file, cwd, now: new Date() })
      if (options.json === true) out.write(`${JSON.stringify(done)}\n`)
      else if (options.quiet !== true)
        err.write(
          `${relative(cwd, done.file)} is ${backup} now, ${bytesText(done.bytes)}${done.kept === null ? '' : `; the former database is ${relative(cwd, done.kept)}`}\n`,
        )
      return 0
    },
  },
]

const existing = (file: string, cwd: string): string => {
  const database = resolve(cwd, file)
  if (existsSync(database)) return database
  throw new GuardError('USAGE', `There is no database ${database}. Name it in storage.file, or start the gateway once.`)
}

/** The size of the database with its journal and its redo logs. */
const bytesOf = (file: string): number =>
  [file, `${file}-wal`, ...logFiles(file)].reduce(
    (sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

/** Creates the file, empty and accessible only to its owner. */
const create = (target: string, name: string): void => {
  try {
    closeSync(openSync(target, 'wx', 0o600))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw writeError(name, cause)
    throw new GuardError('USAGE', `${name} exists already. Name another file.`, { cause })
  }
}

const unsound = (file: string, found: string, cause?: unknown): GuardError =>
  new GuardError(databaseErrors.DATABASE_DAMAGED, `The database ${file} is damaged (${found}). It was not touched.`, {
    cause,
  })

/** Runs `work` on a read-only connection. Throws DATABASE_DAMAGED and DATABASE_UNWRITABLE. */
const withReadonly = async <T>(file: string, work: (db: Database) => T): Promise<T> => {
  const { default: Sqlite } = await import('better-sqlite3')
  let db: Database | undefined
  try {
    db = new Sqlite(file, { readonly: true })
    return work(db)
  } catch (error) {
    if (isCorruption(error)) throw unsound(file, String((error as { readonly code?: unknown }).code), error)
    if (!isUnopenable(error)) throw error
    const { code, message } = unopenable(file, error)
    throw new GuardError(databaseErrors[code], message, { cause: error })
  } finally {
    db?.close()
  }
}
