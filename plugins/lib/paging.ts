import type { Found, Query, Reader, TableName, Tables } from 'guard-gateway/core'

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

/** Sums are deferred for less time than this: if no record of such a span is missing, no earlier one is. */
const FLUSH_DELAY_MS = 5_000
/** No sums were ever deferred longer than this. */
const MAX_DELAY_MS = 30_000

/**
 * Goes through records, newest first and a page at a time, as far back as there may be some that a process did not come to add to
 * sums before it died. `made` gives the time of a record, in epoch milliseconds; `late` gives the records of a page that are missing in sums.
 * `reach_ms`: how far back all records are looked at.
 */
export const findUnsummed = async <R>(
  pages: AsyncIterable<readonly R[]>,
  made: (record: R) => number,
  late: (page: readonly R[]) => Promise<readonly R[]>,
  reach_ms: number = FLUSH_DELAY_MS,
): Promise<void> => {
  let furthest = Number.NEGATIVE_INFINITY
  let until = Number.POSITIVE_INFINITY
  for await (const page of pages) {
    const [newest] = page
    const oldest = page.at(-1)
    if (newest === undefined || oldest === undefined) return
    if (until === Number.POSITIVE_INFINITY) {
      furthest = made(newest) - Math.max(MAX_DELAY_MS, reach_ms)
      until = made(newest) - reach_ms
    }
    for (const record of await late(page)) until = Math.min(until, made(record) - FLUSH_DELAY_MS)
    if (made(oldest) < Math.max(until, furthest)) return
  }
}
