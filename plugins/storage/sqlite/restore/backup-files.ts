import { copyFileSync, existsSync } from 'node:fs'
import Sqlite, { type Database } from 'better-sqlite3'
import { GuardError } from 'guard-gateway/core'
import { databaseErrors } from 'guard-gateway/lib/errors'
import { inspect, SCHEMA_VERSION } from '../file/file.ts'
import { Refusal } from '../file/refusal.ts'
import { logFiles } from '../redo-log/format.ts'
import { isCorruption } from '../sqlite-errors.ts'

/** The files of a database: itself, its journal, and the redo logs of a process that was killed. */
export const filesOf = (file: string): readonly string[] => [file, `${file}-wal`, `${file}-shm`, ...logFiles(file)]

/** Copies a backup with its journal and its redo logs. `copy` is the path of the new database. Throws errors of the file system. */
export const copyBackup = (backup: string, copy: string): void => {
  const targets = filesOf(copy)
  for (const [index, name] of filesOf(backup).entries()) {
    // the shared memory of a journal is made anew
    if (name.endsWith('-shm') || !existsSync(name)) continue
    copyFileSync(name, targets[index] as string)
  }
}

/** Reads a copied backup through and brings its journal into it. Throws DATABASE_DAMAGED and DATABASE_NEWER; `name` is what the user called it. */
export const checkCopy = (copy: string, name: string): void => {
  let db: Database | undefined
  try {
    if (inspect(copy) === 'new') throw damaged(name, 'is empty')
    db = new Sqlite(copy)
    const version = Number(db.pragma('user_version', { simple: true }))
    if (version > SCHEMA_VERSION) throw newer(name)
    const found = String(db.pragma('integrity_check(1)', { simple: true }))
    if (found !== 'ok') throw damaged(name, `is damaged (${found.split('\n').at(-1)})`)
    db.pragma('wal_checkpoint(truncate)')
  } catch (error) {
    if (error instanceof Refusal)
      throw error.code === 'DATABASE_NEWER' ? newer(name) : damaged(name, reason(error, copy))
    throw isCorruption(error)
      ? damaged(name, `is damaged (${String((error as { readonly code?: unknown }).code)})`)
      : error
  } finally {
    db?.close()
  }
}

/** What the check of a header says of the file. */
const reason = ({ message }: Refusal, copy: string): string =>
  message.split(`${copy} `).at(1)?.split('. It was not touched').at(0) ?? message

const damaged = (name: string, what: string): GuardError =>
  new GuardError(
    databaseErrors.DATABASE_DAMAGED,
    `The backup ${name} ${what}. Nothing was changed; restore another backup.`,
  )

const newer = (name: string): GuardError =>
  new GuardError(
    databaseErrors.DATABASE_NEWER,
    `The backup ${name} was written by a newer version than this one, which reads format ${SCHEMA_VERSION}. Nothing was changed; install that version, or restore an older backup.`,
  )
