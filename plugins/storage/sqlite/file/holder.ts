import { readFileSync, rmSync, writeFileSync } from 'node:fs'

/** The process that has a database open. */
export interface Holder {
  readonly pid: number
  /** The address of its gateway; empty until it listens. */
  readonly address: string
}

/** The note is a file beside the lock file: a write to the lock file would release the lock. */
const notePath = (file: string): string => `${file}.holder`

/** The last note for the database `file`, by the process that had it then; undefined if no note can be read. */
export const notedHolder = (file: string): Holder | undefined => {
  try {
    const { pid, address } = JSON.parse(readFileSync(notePath(file), 'utf8')) as Partial<Holder>
    return typeof pid === 'number' && typeof address === 'string' ? { pid, address } : undefined
  } catch {
    return undefined
  }
}

/** Notes that this process has the database `file`. Throws errors of the file system. */
export const noteHolder = (file: string, address: string): void =>
  writeFileSync(notePath(file), JSON.stringify({ pid: process.pid, address } satisfies Holder), { mode: 0o600 })

/** Removes the note. */
export const forgetHolder = (file: string): void => rmSync(notePath(file), { force: true })
