import type { Violation } from 'guard-gateway/lib/check-arguments'
import { harmlessAnywhere } from './functions-anywhere.ts'
import { harmlessInPostgres } from './functions-postgres.ts'
import { type Operation, type SqlUsage, Unclear } from './operation.ts'
import { readPlainSql } from './plain.ts'
import { readPostgresSql } from './postgres.ts'

const MAX_BYTES = 256 * 1024

type Dialect = 'postgres' | 'mysql' | 'sqlite' | 'generic'

export interface SqlOptions {
  args: string[]
  dialect?: Dialect
  operations: Operation[]
  multiple_statements?: boolean
  allow_functions?: string[]
  deny_functions?: string[]
  optional?: boolean
}

const TOO_LONG: Violation = { reason: `is over ${MAX_BYTES} bytes long`, certain: true }
const CONTROL = /[\p{Cc}--[\t\n]]/v

/** The violation of a text. For PostgreSQL the grammar must be loaded. */
export const violationIn = (written: string, options: SqlOptions): Violation | undefined => {
  // too long even if every line break is one byte shorter
  if (written.length > 2 * MAX_BYTES) return TOO_LONG
  // a line break for every database, unlike a single carriage return
  const text = written.replaceAll('\r\n', '\n')
  if (CONTROL.test(text)) return { reason: 'holds a control character', certain: true }
  if (Buffer.byteLength(text) > MAX_BYTES) return TOO_LONG
  const dialect = options.dialect ?? 'generic'
  try {
    return judged(dialect === 'postgres' ? readPostgresSql(text) : readPlainSql(text, dialect), dialect, options)
  } catch (error) {
    if (error instanceof Unclear) return { reason: error.message, certain: false }
    throw error
  }
}

const judged = (asked: SqlUsage, dialect: Dialect, options: SqlOptions): Violation | undefined => {
  if (asked.statements === 0) return { reason: 'holds no statement', certain: true }
  if (asked.statements > 1 && options.multiple_statements !== true)
    return { reason: `holds ${asked.statements} statements, one is allowed`, certain: true }
  for (const operation of asked.operations)
    if (!options.operations.includes(operation))
      return { reason: `does the operation ${operation}, which is not allowed`, certain: true }
  return ofFunctions(asked, dialect, options)
}

const ofFunctions = ({ functions, fields }: SqlUsage, dialect: Dialect, options: SqlOptions): Violation | undefined => {
  const harmless = dialect === 'postgres' ? harmlessInPostgres : harmlessAnywhere
  for (const name of [...functions, ...fields]) {
    const shown = name.slice(0, 60)
    if (isDenied(name, options.deny_functions)) return { reason: `calls ${shown}, which is denied`, certain: true }
    if (functions.has(name) && !harmless.has(name) && options.allow_functions?.includes(name) !== true)
      return { reason: `calls ${shown}, which may have side effects`, certain: false }
  }
  return undefined
}

/** Compares the whole name and its last part, without quotes and case. */
const isDenied = (name: string, denied: readonly string[] = []): boolean => {
  const plain = name.replace(/["`]/g, '').toLowerCase()
  return denied.some((entry) => entry === plain || entry === plain.slice(plain.lastIndexOf('.') + 1))
}
