import type { CallRecord, Gateway } from 'guard-gateway/core'
import { loadRun } from './open-runs.ts'
import { callChange } from './run-change.ts'
import type { RunRow } from './tables.ts'

const NS = 1_000_000n
const PAGE = 500
/** No row was ever further behind the last record than this, many times what is put off. */
const FURTHEST_MS = 30_000

/** Makes up for what an earlier process did not come to: sums of runs whose last requests are on record. Gives how many runs that were. */
export const catchUp = async (gateway: Gateway): Promise<number> => {
  let caught = 0
  let since: number | undefined
  let cursor: string | null = null
  do {
    const page: { readonly rows: readonly CallRecord[]; readonly next_cursor: string | null } =
      await gateway.storage.find('calls', { limit: PAGE, ...(cursor === null ? {} : { cursor }) })
    since ??= (page.rows[0]?.ended_at ?? 0) - FURTHEST_MS
    for (const trace_id of await behind(gateway, page.rows)) if (await written(gateway, trace_id)) caught++
    const oldest = page.rows.at(-1)
    cursor = oldest !== undefined && oldest.ended_at >= since ? page.next_cursor : null
  } while (cursor !== null)
  return caught
}

/** Runs that were last written before one of these calls ended. */
const behind = async (gateway: Gateway, calls: readonly CallRecord[]): Promise<readonly string[]> => {
  const ended = new Map<string, number>()
  for (const { trace_id, ended_at } of calls)
    if (trace_id !== null) ended.set(trace_id, Math.max(ended_at, ended.get(trace_id) ?? 0))
  const rows = await Promise.all([...ended.keys()].map((trace_id) => gateway.storage.get('runs', trace_id)))
  const isBehind = (row: RunRow) => row.updated_ns < BigInt(ended.get(row.trace_id) ?? 0) * NS
  return rows.flatMap((row) => (row !== undefined && isBehind(row) ? [row.trace_id] : []))
}

/** False: somebody else was first. */
const written = async (gateway: Gateway, trace_id: string): Promise<boolean> => {
  const run = await loadRun(gateway.storage, trace_id)
  if (run === undefined) return false
  const now_ns = BigInt(gateway.clock.now()) * NS
  const { end_ns } = run.skeleton.sums
  // not before its records, whatever the clock says by now
  return gateway.storage.write([callChange(run, false, end_ns !== null && end_ns > now_ns ? end_ns : now_ns)])
}
