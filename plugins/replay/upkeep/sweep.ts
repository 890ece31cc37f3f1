import { type Fragment, type Gateway, GuardError } from 'guard-gateway/core'
import { isGuarded } from '../keep/run-row.ts'
import { allRows } from '../keep/stored-records.ts'
import { hasGone } from '../keep/writer.ts'
import type { RunRow, SpanRow } from '../tables.ts'
import { DAY_NS, nowNs } from '../time.ts'

const PAGE = 200
const MESSAGE = 'gateway stopped before the request ended'

/** Ends spans of the gateway or the MCP proxy whose writer has gone before it could; gives how many runs that were. */
export const sweep = async (gateway: Gateway): Promise<number> => {
  const now_ns = nowNs(gateway.clock)
  let swept = 0
  let cursor: string | null = null
  do {
    const page: { readonly rows: readonly RunRow[]; readonly next_cursor: string | null } = await gateway.storage.find(
      'runs',
      { where: { status: 'running' }, limit: PAGE, ...(cursor === null ? {} : { cursor }) },
    )
    for (const run of page.rows) if (isLeft(run, now_ns) && (await endSpans(gateway, run))) swept++
    cursor = page.next_cursor
  } while (cursor !== null)
  return swept
}

const isLeft = (run: RunRow, now_ns: bigint): boolean =>
  isGuarded(run) && (run.updated_ns < now_ns - DAY_NS || hasGone(run.writer))

const endSpans = async (gateway: Gateway, run: RunRow): Promise<boolean> => {
  const spans = await allRows(gateway.storage, 'spans', { trace_id: run.trace_id })
  const open = spans.filter(({ owner, end_ns }) => owner !== 'client' && end_ns === null)
  const [first] = open
  if (first === undefined) return false
  const fragment: Fragment = {
    owner: first.owner,
    origin: run.origin,
    run: { trace_id: run.trace_id },
    spans: open.map((span) => ended(span, run.updated_ns)),
    events: [],
    artifacts: [],
  }
  try {
    await gateway.keep([fragment])
    return true
  } catch (error) {
    if (!(error instanceof GuardError)) throw error
    gateway.fault(error, 'replay:sweep')
    return false
  }
}

const ended = ({ id, name, start_ns }: SpanRow, updated_ns: bigint) => ({
  id,
  name,
  status: 'error',
  status_message: MESSAGE,
  end_ns: updated_ns > start_ns ? updated_ns : start_ns,
})
