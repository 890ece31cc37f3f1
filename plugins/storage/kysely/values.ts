import type { AnyWhere, Column, Table } from 'guard-gateway/core'
import { readJson, writeJson } from '#lib/json'
import { type Clause, type Op, type SqlValue, takesValue } from './shape.ts'

/** JSON text; the exact writer is slower and only needed where a bigint is inside. */
export const jsonText = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return writeJson(value)
  }
}

/** A column's value as SQL takes it; what SQL cannot take is refused when it is bound. */
export const toSql = (kind: Column, value: unknown): SqlValue => {
  if (value === null || value === undefined) return null
  if (kind === 'json') return jsonText(value)
  if (kind === 'boolean') return value === true ? 1 : 0
  return value as SqlValue
}

type Range = { readonly in?: readonly unknown[]; readonly not?: null; readonly gte?: unknown; readonly lt?: unknown }

/** What a test asks of a column: operations, each with its value. */
export const opsOf = (test: AnyWhere[string]): readonly (readonly [Op, unknown])[] => {
  if (test === null) return [['null', null]]
  if (typeof test !== 'object') return [['eq', test]]
  const range: Range = test
  if (range.in !== undefined) return [['in', range.in]]
  if (range.not === null) return [['not_null', null]]
  const ops: (readonly [Op, unknown])[] = []
  if (range.gte !== undefined) ops.push(['gte', range.gte])
  if (range.lt !== undefined) ops.push(['lt', range.lt])
  return ops
}

const valueFor = (kind: Column, op: Op, value: unknown): SqlValue =>
  op === 'in' ? writeJson((value as readonly unknown[]).map((one) => toSql(kind, one))) : toSql(kind, value)

/** Splits tests into their shape, which is returned, and their values, which are appended to `values`. */
export const clausesOf = ({ columns }: Table, where: AnyWhere, values: SqlValue[]): Clause[] => {
  const clauses: Clause[] = []
  for (const [name, test] of Object.entries(where)) {
    if (test === undefined) continue
    for (const [op, value] of opsOf(test)) {
      const clause: Clause = [name, op]
      clauses.push(clause)
      if (takesValue(clause)) values.push(valueFor(columns[name] ?? 'text', op, value))
    }
  }
  return clauses
}

/** Tokens as one text, null if there are none. */
export const wordsOf = (value: unknown): string | null =>
  Array.isArray(value) && value.length > 0 ? value.join(' ') : null

/** The inverse of `toSql`; int64 columns are read as text. */
export const fromSql = (kind: Column, value: SqlValue): unknown => {
  if (value === null) return null
  if (kind === 'json') return readJson(String(value))
  if (kind === 'boolean') return value === 1
  return kind === 'int64' ? BigInt(value) : value
}
