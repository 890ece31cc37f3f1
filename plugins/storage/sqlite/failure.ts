import type { Failure } from './protocol.ts'

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code)

/** The row exists already, or a unique column is taken. */
export const isTaken = (error: unknown): boolean => /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)$/.test(codeOf(error))

export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY')

/** What the file holds is at fault, and not the disk, the rights or a lock. */
export const isDamage = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB|IOERR_(SHORT_READ|CORRUPTFS|DATA))/.test(codeOf(error))

/** The disk has no room: it is the shared memory of a journal that is begun first. */
export const isFull = (error: unknown): boolean => /^SQLITE_(FULL|IOERR_SHMSIZE)$/.test(codeOf(error))

/** The file cannot be had, whatever it holds: rights, a folder in its place, a lock of another program. */
export const isShut = (error: unknown): boolean => /^SQLITE_(CANTOPEN|READONLY|PERM|BUSY|IOERR)/.test(codeOf(error))

/** Whether the disk is full, the database cannot be used now, or what was asked is itself at fault. */
export const reasonOf = (error: unknown): Failure['reason'] => {
  const code = codeOf(error)
  if (isFull(error)) return 'full'
  const own = !code.startsWith('SQLITE_') || /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE|ERROR)/.test(code)
  return own ? 'fault' : 'failing'
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
