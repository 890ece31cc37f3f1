import type { Reader } from 'guard-gateway/core'
import { type TraceEvent, toolRecords } from 'guard-gateway/lib/trace'

/** Limit per table. */
const MAX_EVENTS = 200

/** Newest events of a run and its tool calls, in chronological order; not older than `since_ns`, nanoseconds since 1970. */
export const newestEvents = async (
  storage: Reader,
  trace_id: string,
  since_ns: bigint,
): Promise<readonly TraceEvent[]> => {
  const [events, tools] = await Promise.all([
    storage.find('events', { where: { trace_id }, limit: MAX_EVENTS }),
    storage.has('mcp_audit')
      ? storage.find('mcp_audit', { where: { trace_id, traced: true }, limit: MAX_EVENTS })
      : { rows: [] },
  ])
  return [...events.rows, ...tools.rows.map((record) => toolRecords(record).event)]
    .filter(({ time_ns }) => time_ns >= since_ns)
    .sort((a, b) => Number(a.time_ns - b.time_ns))
}
