import type { CallRecord, Found, Query, Reader, SessionEvent, TableName, Tables } from 'guard-gateway/core'
import { type EventV1, eventV1 } from './events.ts'

const PAGE_ROWS = 500

/** A page of history entries as events, decisions with what their calls say. */
export const projected = async (storage: Reader, events: readonly SessionEvent[]): Promise<readonly EventV1[]> => {
  const ids = events.flatMap(({ request_id, attributes }) =>
    request_id !== null && attributes === null ? [request_id] : [],
  )
  const calls = new Map<string, CallRecord>()
  if (ids.length > 0) {
    const { rows } = await storage.find('calls', { where: { id: { in: ids } }, limit: ids.length })
    for (const call of rows) calls.set(call.id, call)
  }
  return events.map((event) => eventV1(event, event.request_id === null ? undefined : calls.get(event.request_id)))
}

/** All rows of a query, page after page. */
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
