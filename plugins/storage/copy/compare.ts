import { createHash, type Hash } from 'node:crypto'
import type { AnyRow, Driver, Table } from 'guard-gateway/core'
import { writeJson } from '#lib/json'
import { keyText, type StoredRow, storedRows } from './stored-rows.ts'

/** One side of a table: how many rows, and a hash of them all in their order. */
export interface Side {
  readonly rows: number
  /** SHA-256 in hexadecimal. */
  readonly digest: string
}

/** What comparing a table found. */
export interface Compared {
  readonly table: Table
  readonly source: Side
  readonly target: Side
  /** Key of the first row of the target that is not the source's at its place; undefined if there is none. */
  readonly other: string | undefined
  /** Position of the last row of the source that the target has at the same place; 0 if it has none. */
  readonly after: number
}

export const isEqual = ({ source, target }: Compared): boolean =>
  source.rows === target.rows && source.digest === target.digest

/** Reads both sides of a table row by row in their order. `whole`: go on where the target ends, and after a difference. */
export const compareTable = async (
  from: Driver,
  to: Driver,
  table: Table,
  { whole, read }: { readonly whole: boolean; readonly read: (rows: number) => void },
): Promise<Compared> => {
  const storedTokens = from.tokens && to.tokens && (to.storedTokens ?? ((tokens: readonly string[]) => tokens))
  const write = canonical(table, storedTokens)
  const [source, target] = [new SideReader(from, table, write), new SideReader(to, table, write)]
  let after = 0
  let other: string | undefined
  try {
    for await (const [ours, theirs] of pairs(source, target, whole)) {
      if (ours !== undefined && ours.text === theirs?.text && other === undefined) after = ours.recorded
      else if (theirs !== undefined) other ??= keyText(table, theirs.row)
      if (other !== undefined && !whole) break
      read(1)
    }
  } finally {
    await Promise.all([source.close(), target.close()])
  }
  return { table, source: source.side(), target: target.side(), other, after }
}

type Written = StoredRow & { readonly text: string }

/** The rows at the same places of both sides, until the target ends, or with `whole` until both do. */
async function* pairs(
  source: SideReader,
  target: SideReader,
  whole: boolean,
): AsyncGenerator<readonly [ours: Written | undefined, theirs: Written | undefined]> {
  for (;;) {
    const theirs = await target.next()
    if (theirs === undefined && !whole) return
    const ours = await source.next()
    if (ours === undefined && theirs === undefined) return
    yield [ours, theirs]
  }
}

/** Reads one side and hashes what it reads. */
class SideReader {
  readonly #pages: AsyncGenerator<readonly StoredRow[]>
  readonly #write: (row: AnyRow) => string
  readonly #hash: Hash = createHash('sha256')
  #page: readonly StoredRow[] = []
  #place = 0
  #rows = 0

  constructor(driver: Driver, table: Table, write: (row: AnyRow) => string) {
    this.#pages = storedRows(driver, table)
    this.#write = write
  }

  async next(): Promise<Written | undefined> {
    if (this.#place === this.#page.length) {
      this.#page = (await this.#pages.next()).value ?? []
      this.#place = 0
    }
    const found = this.#page[this.#place++]
    if (found === undefined) return undefined
    const text = this.#write(found.row)
    this.#hash.update(text).update('\n')
    this.#rows++
    return { ...found, text }
  }

  async close(): Promise<void> {
    await this.#pages.return(undefined)
  }

  side(): Side {
    return { rows: this.#rows, digest: this.#hash.digest('hex') }
  }
}

/** Those of tokens that are sorted which a storage keeps. */
type StoredTokens = (tokens: readonly string[]) => readonly string[]

/** Writes a row as the JSON text of its values in the order of the columns; an int64 is a text of digits there. */
const canonical = (table: Table, storedTokens: StoredTokens | undefined): ((row: AnyRow) => string) => {
  const columns = Object.entries(table.columns).filter(([, kind]) => kind !== 'search' || storedTokens !== undefined)
  return (row) => {
    const values = columns.map(([name, kind]) => {
      const value = row[name] ?? null
      if (kind === 'search') return [...new Set(storedTokens?.((value ?? []) as readonly string[]))].sort()
      return kind === 'int64' && value !== null ? String(value) : value
    })
    try {
      return JSON.stringify(values)
    } catch {
      // a bigint in a json column
      return writeJson(values)
    }
  }
}
