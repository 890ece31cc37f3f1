import { GuardError } from 'guard-gateway/core'

/** SQLSTATE of an error of the server; undefined for another one. */
export const sqlState = (error: unknown): string | undefined => {
  const { code, severity } = (error ?? {}) as { readonly code?: unknown; readonly severity?: unknown }
  return typeof severity === 'string' && typeof code === 'string' ? code : undefined
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What a condition that does not hold raises inside of a batch: division_by_zero, which nothing else can raise there. */
const CONDITION_FAILED = '22012'
const UNIQUE_VIOLATION = '23505'

/** A condition of the batch does not hold, the row exists already, or a unique column is taken. */
export const isRefused = (error: unknown): boolean => {
  const state = sqlState(error)
  return state === CONDITION_FAILED || state === UNIQUE_VIOLATION
}

/** Two transactions were in each other's way; the server has undone one of them. */
export const isConflict = (error: unknown): boolean => /^40(001|P01)$/.test(sqlState(error) ?? '')

/** A lock or the statement took longer than its timeout. */
export const isTimeout = (error: unknown): boolean => /^(55P03|57014)$/.test(sqlState(error) ?? '')

export const isFull = (error: unknown): boolean => sqlState(error) === '53100'

export const isTooMany = (error: unknown): boolean => sqlState(error) === '53300'

/** The server forgot a prepared statement, as poolers between make it; a new connection has it again. */
export const isStale = (error: unknown): boolean => /^(26000|0A000|42P05)$/.test(sqlState(error) ?? '')

/** The connection is gone, so whether a transaction was committed is not known. */
export const isLost = (error: unknown): boolean => {
  if (error instanceof GuardError) return false
  const state = sqlState(error)
  return state === undefined || /^(08|57P0)/.test(state) || (error as { severity?: unknown }).severity === 'FATAL'
}

/** The server is there, and cannot write or answer now; nothing was written. */
export const isUnavailable = (error: unknown): boolean => /^(25006|53|58|XX|F0)/.test(sqlState(error) ?? '')

/** What an error of a batch means. `refused`: a condition failed. `wrong`: it can never be written. */
export type FailureKind = 'refused' | 'lost' | 'stale' | 'full' | 'unavailable' | 'conflict' | 'timeout' | 'wrong'

export const failureKind = (error: unknown): FailureKind => {
  if (isRefused(error)) return 'refused'
  if (isStale(error)) return 'stale'
  if (isFull(error)) return 'full'
  if (isLost(error)) return 'lost'
  if (isUnavailable(error)) return 'unavailable'
  if (isConflict(error)) return 'conflict'
  return isTimeout(error) ? 'timeout' : 'wrong'
}
