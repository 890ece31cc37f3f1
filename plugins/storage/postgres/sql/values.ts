import type { AnyRow, AnyWhere, Column, Table } from 'guard-gateway/core'
import { readJson } from '#lib/json'
import { type Clause, storedColumns, takesValue } from '../../kysely/shape.ts'
import { jsonText, opsOf } from '../../kysely/values.ts'
import { indexable } from './tokens.ts'

/** A value in PostgreSQL's text format. */
export type PgValue = string | null

const wrongValue = (column: string, kind: Column, value: unknown) =>
  new TypeError(`The batch cannot be written: ${String(value)} in column "${column}" is no ${kind}.`)

/** A number, or a bigint, as text. Throws a TypeError for what the column cannot hold. */
const numberText = (column: string, kind: Column, value: unknown): string => {
  const isWhole = typeof value === 'bigint' || Number.isInteger(value)
  if (kind === 'real' ? typeof value === 'number' : isWhole) return Object.is(value, -0) ? '-0' : String(value)
  throw wrongValue(column, kind, value)
}

/** The value of a column. Throws a TypeError for what the column cannot hold. */
export const toPg = (column: string, kind: Column, value: unknown): PgValue => {
  if (value === null || value === undefined) return null
  if (kind === 'json') return jsonText(value)
  if (kind === 'boolean') return value === true ? 't' : 'f'
  if (kind === 'search') return tokensValue(value)
  if (kind !== 'text') return numberText(column, kind, value)
  if (typeof value !== 'string') throw wrongValue(column, kind, value)
  return encodeText(value)
}

/** Tokens as a list of texts; null if there are none. */
const tokensValue = (value: unknown): PgValue => {
  const tokens = Array.isArray(value) ? indexable(value.map(String)) : []
  return tokens.length === 0 ? null : listText(tokens)
}

/** A list in the text format of arrays. */
export const listText = (values: readonly string[]): string =>
  `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`

/** The inverse of `toPg`. */
export const fromPg = (kind: Column, value: PgValue): unknown => {
  if (value === null) return null
  if (kind === 'json') return readJson(value)
  if (kind === 'boolean') return value === 't'
  if (kind === 'text') return decodeText(value)
  return kind === 'int64' ? BigInt(value) : Number(value)
}

/** Decodes the stored columns of a table, in their order. Values after them are ignored. */
export class RowDecoder {
  readonly #columns: readonly (readonly [name: string, kind: Column])[]

  constructor(table: Table) {
    this.#columns = storedColumns(table)
  }

  get length(): number {
    return this.#columns.length
  }

  row(values: readonly PgValue[]): AnyRow {
    const row: Record<string, unknown> = {}
    let index = 0
    for (const [name, kind] of this.#columns) row[name] = fromPg(kind, values[index++] ?? null)
    return row
  }
}

/** Splits tests into their clauses, which are returned, and their values, which are appended to `values`. */
export const clausesOf = ({ columns }: Table, where: AnyWhere, values: PgValue[]): Clause[] => {
  const clauses: Clause[] = []
  for (const [name, test] of Object.entries(where)) {
    if (test === undefined) continue
    const kind = columns[name] ?? 'text'
    for (const [op, value] of opsOf(test)) {
      const clause: Clause = [name, op]
      clauses.push(clause)
      if (op === 'in') values.push(listText((value as readonly unknown[]).map((one) => toPg(name, kind, one) ?? '')))
      else if (takesValue(clause)) values.push(toPg(name, kind, value))
    }
  }
  return clauses
}

const RESERVED = /[\u0000\u0001]/
const ALL_RESERVED = /[\u0000\u0001]/g
const ENCODED = /\u0001[\u0001\u0002]/g

/**
 * A text as PostgreSQL takes it, which has no U+0000: U+0000 becomes U+0001 U+0001, and U+0001 becomes U+0001 U+0002.
 * No two texts become the same one, and their order by code points stays. A lone surrogate becomes U+FFFD when it is sent.
 */
export const encodeText = (text: string): string =>
  RESERVED.test(text)
    ? text.replace(ALL_RESERVED, (char) => (char === '\u0000' ? '\u0001\u0001' : '\u0001\u0002'))
    : text

/** The inverse of `encodeText`. */
export const decodeText = (text: string): string =>
  text.includes('\u0001') ? text.replace(ENCODED, (pair) => (pair[1] === '\u0001' ? '\u0000' : '\u0001')) : text
