import type { Found, Query, Reader, TableName, Tables } from 'guard-gateway/core'

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
