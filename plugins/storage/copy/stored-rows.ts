import type { AnyRow, Driver, DriverQuery, Position, RowTokens, Table } from 'guard-gateway/core'
import { writeJson } from '#lib/json'

/** A row with its tokens, and its position in the order of first put. */
export interface StoredRow {
  readonly recorded: number
  readonly row: AnyRow
}

/** The rows of a page: as many as take about so many bytes, of those before it. A row may be a megabyte, or a hundred bytes. */
const PAGE_BYTES = 4_194_304
const FIRST_ROWS = 64
const MOST_ROWS = 1_024
/** So many rows of a page are measured. */
const SAMPLE_ROWS = 16

/** The rows after a position, in pages, in the order in which they were first put. */
export async function* storedRows(driver: Driver, table: Table, after = 0): AsyncGenerator<readonly StoredRow[]> {
  const tokens = tokensInStep(driver, table, after)
  try {
    let position: Position | null = after === 0 ? null : { value: null, recorded: after }
    let limit = FIRST_ROWS
    do {
      const page = await driver.find(table, { ...EVERY_ROW, limit, after: position })
      const rows = page.rows.map((row, place) => ({ recorded: page.positions[place]?.recorded ?? 0, row }))
      if (rows.length > 0) yield tokens === undefined ? rows : await tokens.addTo(rows)
      position = page.next
      limit = nextLimit(page.rows)
    } while (position !== null)
  } finally {
    await tokens?.end()
  }
}

const EVERY_ROW = { where: {}, search: [], order: ['recorded', 'asc'] } as const satisfies Partial<DriverQuery>

/** A power of two, since a backend prepares a statement for each. */
const nextLimit = (rows: readonly AnyRow[]): number => {
  const step = Math.max(1, Math.floor(rows.length / SAMPLE_ROWS))
  const sample = rows.filter((_row, place) => place % step === 0)
  const bytes = sample.reduce((sum, row) => sum + rowBytes(row), 0) / Math.max(1, sample.length)
  return 2 ** Math.floor(Math.log2(Math.max(1, Math.min(MOST_ROWS, PAGE_BYTES / Math.max(1, bytes)))))
}

/** The size of a row, about: characters of its texts and of its JSON. */
export const rowBytes = (row: AnyRow): number => {
  let bytes = 0
  for (const name in row) {
    const value = row[name]
    if (typeof value === 'string') bytes += value.length
    else bytes += typeof value === 'object' && value !== null ? jsonLength(value) : 8
  }
  return bytes
}

const jsonLength = (value: object): number => {
  try {
    return JSON.stringify(value).length
  } catch {
    // a bigint inside
    return writeJson(value).length
  }
}

const tokensInStep = (driver: Driver, table: Table, after: number): TokensInStep | undefined => {
  const column = searchColumn(table)
  return column === undefined || driver.tokens === undefined
    ? undefined
    : new TokensInStep(driver.tokens(table, after), column)
}

/** Reads tokens beside the rows that they belong to. Both come in the order of `recorded`. */
class TokensInStep {
  readonly #column: string
  readonly #all: AsyncIterator<RowTokens>
  #next: Promise<IteratorResult<RowTokens>> | undefined

  constructor(all: AsyncIterable<RowTokens>, column: string) {
    this.#all = all[Symbol.asyncIterator]()
    this.#column = column
  }

  /** The same rows with their tokens, sorted. */
  async addTo(rows: readonly StoredRow[]): Promise<readonly StoredRow[]> {
    const added: StoredRow[] = []
    for (const { recorded, row } of rows)
      added.push({ recorded, row: { ...row, [this.#column]: await this.#of(recorded) } })
    return added
  }

  async end(): Promise<void> {
    await this.#all.return?.()
  }

  async #of(recorded: number): Promise<readonly string[]> {
    for (;;) {
      this.#next ??= this.#all.next()
      const { done, value } = await this.#next
      if (done === true || value.recorded > recorded) return []
      this.#next = undefined
      if (value.recorded === recorded) return [...value.tokens].sort()
    }
  }
}

/** The column of a table that holds tokens. */
export const searchColumn = ({ columns }: Table): string | undefined =>
  Object.keys(columns).find((name) => columns[name] === 'search')

/** The key of a row, for a person. */
export const keyText = (table: Table, row: AnyRow): string =>
  (table.key ?? ['id']).map((column) => String(row[column])).join(', ')

/** How many rows a table has. */
export const rowCount = async (driver: Driver, table: Table): Promise<number> => {
  const groups = await driver.sum(table, { where: {}, order: ['recorded', 'asc'], by: [], of: [] })
  return groups.reduce((sum, { rows }) => sum + rows, 0)
}
