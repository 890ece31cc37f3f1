import type { Failure } from './protocol.ts'

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code)

/** The row exists already, or a unique column is taken. */
export const isUniqueViolation = (error: unknown): boolean =>
  /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)$/.test(codeOf(error))

export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY')

/** The contents of the file are damaged; not the disk, the permissions or a lock. */
export const isCorruption = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB|IOERR_(SHORT_READ|CORRUPTFS|DATA))/.test(codeOf(error))

/** The disk is full. A new journal fails first at its shared memory file. */
export const isFull = (error: unknown): boolean => /^SQLITE_(FULL|IOERR_SHMSIZE)$/.test(codeOf(error))

/** The file cannot be opened, whatever its contents: permissions, a folder in its place, a lock of another program. */
export const isUnopenable = (error: unknown): boolean =>
  /^SQLITE_(CANTOPEN|READONLY|PERM|BUSY|IOERR)/.test(codeOf(error))

/** The reason of a failure: the disk is full, the database cannot be used now, or the statement itself is invalid. */
export const reasonOf = (error: unknown): Failure['reason'] => {
  const code = codeOf(error)
  if (isFull(error)) return 'full'
  const own = !code.startsWith('SQLITE_') || /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE|ERROR)/.test(code)
  return own ? 'fault' : 'failing'
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
