import { readFileSync, rmSync, writeFileSync } from 'node:fs'

/** The process that has a database. */
export interface Holder {
  readonly pid: number
  /** Where its gateway answers; empty as long as it listens nowhere. */
  readonly address: string
}

/** The note stands beside the lock, not in it: what holds a lock cannot be written to without letting it go. */
const noteOf = (file: string): string => `${file}.holder`

/** What was noted last of the database `file`, by whoever had it then; undefined if nothing can be read. */
export const notedHolder = (file: string): Holder | undefined => {
  try {
    const { pid, address } = JSON.parse(readFileSync(noteOf(file), 'utf8')) as Partial<Holder>
    return typeof pid === 'number' && typeof address === 'string' ? { pid, address } : undefined
  } catch {
    return undefined
  }
}

/** Notes that this process has the database `file`. Throws the system's error. */
export const noteHolder = (file: string, address: string): void =>
  writeFileSync(noteOf(file), JSON.stringify({ pid: process.pid, address } satisfies Holder), { mode: 0o600 })

/** Takes the note back. */
export const forgetHolder = (file: string): void => rmSync(noteOf(file), { force: true })
