import type { Reader, TableName, Tables, Where } from 'guard-gateway/core'
import type { ToolRecord } from '#lib/trace'

const PAGE_ROWS = 5_000

/** The rows of a query in pages, in the order in which they were written; pages are read on demand. */
export async function* pagesOf<N extends TableName>(
  storage: Reader,
  table: N,
  where: Where<Tables[N]>,
  limit: number,
): AsyncGenerator<readonly Tables[N][]> {
  let cursor: string | null = null
  do {
    const page: { readonly rows: readonly Tables[N][]; readonly next_cursor: string | null } = await storage.find(
      table,
      { where, order: ['recorded', 'asc'], limit, ...(cursor === null ? {} : { cursor }) },
    )
    yield page.rows
    cursor = page.next_cursor
  } while (cursor !== null)
}

/** All rows of a query, in the order in which they were written. */
export const allRows = async <N extends TableName>(
  storage: Reader,
  table: N,
  where: Where<Tables[N]>,
): Promise<Tables[N][]> => {
  const rows: Tables[N][] = []
  for await (const page of pagesOf(storage, table, where, PAGE_ROWS)) for (const row of page) rows.push(row)
  return rows
}

/** All rows of a run's records, tool calls through the gateway included. */
export const storedRecords = async (storage: Reader, trace_id: string) => {
  const where = { trace_id }
  const [spans, events, artifacts, calls, tools] = await Promise.all([
    allRows(storage, 'spans', where),
    allRows(storage, 'events', where),
    allRows(storage, 'artifacts', where),
    allRows(storage, 'calls', where),
    tracedTools(storage, trace_id),
  ])
  return { spans, events, artifacts, calls, tools }
}

const tracedTools = async (storage: Reader, trace_id: string): Promise<readonly ToolRecord[]> =>
  storage.has('mcp_audit') ? allRows(storage, 'mcp_audit', { trace_id, traced: true }) : []
