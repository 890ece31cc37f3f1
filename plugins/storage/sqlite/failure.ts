import type { Failure } from './protocol.ts'

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code)

/** The row exists already, or a unique column is taken. */
export const isTaken = (error: unknown): boolean => /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)$/.test(codeOf(error))

export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY')

/** Whether the disk is full, the database cannot be used now, or what was asked is itself at fault. */
export const reasonOf = (error: unknown): Failure['reason'] => {
  const code = codeOf(error)
  if (code === 'SQLITE_FULL') return 'full'
  const own = !code.startsWith('SQLITE_') || /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE|ERROR)/.test(code)
  return own ? 'fault' : 'failing'
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
