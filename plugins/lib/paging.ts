import type { Found, Query, Reader, TableName, Tables } from 'guard-gateway/core'

export { findUnsummed } from './paging/unsummed.ts'

/** The time that ages in filters are counted from, milliseconds since 1970, and the storage's own cursor. */
interface DatedCursor {
  readonly now: number
  readonly cursor: string | undefined
}

const DATED = /^(\d{1,15})-(.*)$/s

/** What a dated cursor continues from; without one a list starts now. */
export const parseDatedCursor = (cursor: string | undefined, now: number): DatedCursor => {
  const [, begun, rest] = DATED.exec(cursor ?? '') ?? []
  return begun === undefined ? { now, cursor } : { now: Number(begun), cursor: rest }
}

/** The cursor of the page after that of `cursor`. It says when the list started: an age such as `24h` would mean another time on each page. */
export const datedCursor = (next: string | null, cursor: string | undefined, now: number): string | null =>
  next === null ? null : `${parseDatedCursor(cursor, now).now}-${next}`

const PAGE_ROWS = 500

/** All rows of a query, a page at a time. */
export async function* pages<N extends TableName>(
  storage: Reader,
  table: N,
  query: Query<Tables[N]>,
): AsyncGenerator<readonly Tables[N][]> {
  let cursor: string | null = null
  do {
    const found: Found<Tables[N]> = await storage.find(table, {
      ...query,
      limit: PAGE_ROWS,
      ...(cursor === null ? {} : { cursor }),
    })
    yield found.rows
    cursor = found.next_cursor
  } while (cursor !== null)
}
