import { chmodSync, closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { OpenOptions } from '../protocol.ts'
import { isFull } from '../sqlite-errors.ts'
import { Refusal } from './refusal.ts'

/** The application id of our files in the SQLite header: "Grd1". */
export const APPLICATION_ID = 0x47726431
/** The version of the file format. It rises when an older version can no longer use the file. */
export const SCHEMA_VERSION = 1

const MAGIC = 'SQLite format 3\0'

/** A check of so many bytes takes well under a second. */
const CHECKED_BYTES = 64 * 1024 * 1024

/** Whether the file is too large for a check before it is used. */
export const isLarge = ({
  file,
  checked_bytes = CHECKED_BYTES,
}: Pick<OpenOptions, 'file' | 'checked_bytes'>): boolean => statSync(file).size > checked_bytes

export const damaged = (file: string, what: string): Refusal =>
  new Refusal(
    'DATABASE_DAMAGED',
    `The database ${file} ${what}. It was not touched. Restore a backup, move the file away to start over, or name another one in storage.file.`,
  )

export const newer = (file: string, version: number): Refusal =>
  new Refusal(
    'DATABASE_NEWER',
    `The database ${file} has format ${version}; this version writes format ${SCHEMA_VERSION}. Install the newer version, or name another file in storage.file.`,
  )

/** The refusal for a database that cannot be opened, and may be sound. */
export const unopenable = (file: string, error: unknown): Refusal => {
  const why = isFull(error) ? 'the disk is full. Free some space' : `${String(error)}. Check the folder and its rights`
  return new Refusal(
    'DATABASE_UNWRITABLE',
    `The database ${file} cannot be opened: ${why}, or name another file in storage.file.`,
  )
}

const unwritable = (what: string, cause: unknown): Refusal =>
  new Refusal(
    'DATABASE_UNWRITABLE',
    `${what}: ${cause instanceof Error ? cause.message : String(cause)}. Check the folder and its rights, or name another file in storage.file.`,
  )

/** Creates the file, empty and accessible only to its owner, unless it exists. Throws DATABASE_UNWRITABLE. */
export const createFile = (file: string): void => {
  const folder = dirname(resolve(file))
  if (!existsSync(folder))
    throw new Refusal(
      'DATABASE_UNWRITABLE',
      `The folder ${folder} of the database file does not exist. Create it, or name another file in storage.file.`,
    )
  if (existsSync(file)) return
  try {
    closeSync(openSync(file, 'wx', 0o600))
    chmodSync(file, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw unwritable(`The database file ${file} cannot be created`, error)
  }
}

/** A warning if other users can read the file; undefined if they cannot. */
export const modeWarning = (file: string): string | undefined => {
  const mode = statSync(file).mode & 0o777
  if (process.platform === 'win32' || (mode & 0o077) === 0) return undefined
  return `Other users can read the database ${file}; close it to them with: chmod 600 ${file}`
}

const readHeader = (file: string): { header: Buffer; size: number } => {
  try {
    const handle = openSync(file, 'r')
    try {
      const header = Buffer.alloc(100)
      const read = readSync(handle, header, 0, 100, 0)
      return { header: header.subarray(0, read), size: fstatSync(handle).size }
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    throw unwritable(`The database file ${file} cannot be read`, error)
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/**
 * Reads the header of a file without opening it as a database. Returns `new` if the file is empty, else `ours`.
 * Throws DATABASE_DAMAGED for a file that is no database, belongs to another program, is shorter than its header says, or is empty while
 * its journal is not; DATABASE_NEWER for a file of a newer version.
 */
export const inspect = (file: string): 'new' | 'ours' => {
  const { header, size } = readHeader(file)
  if (size === 0) {
    // SQLite would take it for a new database and delete its journal
    if (sizeOf(`${file}-wal`) > 0) throw damaged(file, 'is empty, and its journal is not')
    return 'new'
  }
  if (header.length < 100 || header.toString('latin1', 0, 16) !== MAGIC)
    throw damaged(file, 'is not an SQLite database')
  const application = header.readUInt32BE(68)
  if (application !== APPLICATION_ID) throw damaged(file, 'belongs to another program')
  const version = header.readUInt32BE(60)
  if (version > SCHEMA_VERSION) throw newer(file, version)
  const pageSize = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16)
  const isSizeValid = header.readUInt32BE(24) === header.readUInt32BE(92)
  // with a journal the file may be shorter: its last pages may be in the journal only
  if (isSizeValid && !existsSync(`${file}-wal`) && size < header.readUInt32BE(28) * pageSize)
    throw damaged(file, `is cut off: ${size} bytes of ${header.readUInt32BE(28) * pageSize}`)
  return 'ours'
}
