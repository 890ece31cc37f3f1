import { GuardError } from 'guard-gateway/core'

/** Position in one table: a storage cursor, or null for the start. */
export type TableCursor = string | null
/** End of the table. */
export const END = ''

/** Positions in both tables of a history. */
export interface HistoryCursor {
  readonly decisions: TableCursor
  readonly others: TableCursor
}

export const encodeCursor = ({ decisions, others }: HistoryCursor): string =>
  Buffer.from(JSON.stringify([decisions, others])).toString('base64url')

const isTableCursor = (value: unknown): value is TableCursor => value === null || typeof value === 'string'

const parsed = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** Decodes a cursor of `encodeCursor`. Throws INVALID_CURSOR for any other. The storage checks each table's cursor. */
export const decodeCursor = (cursor: string | undefined): HistoryCursor => {
  if (cursor === undefined) return { decisions: null, others: null }
  const tables = parsed(cursor)
  if (Array.isArray(tables) && tables.length === 2) {
    const [decisions, others]: unknown[] = tables
    if (isTableCursor(decisions) && isTableCursor(others)) return { decisions, others }
  }
  throw new GuardError(
    'INVALID_CURSOR',
    'The cursor is none of a session history. Start again without a cursor, and pass on "next_cursor" as it came.',
  )
}
