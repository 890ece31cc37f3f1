import type { Gateway } from 'guard-gateway/core'
import { findUnsummed, pages } from 'guard-gateway/lib/paging'
import type { ToolRecord } from 'guard-gateway/lib/trace'
import { NS_PER_MS, nowNs } from '../time.ts'
import { loadRun } from './open-runs.ts'
import { callChange } from './run-change.ts'

/** The run of a call, and when the call ended. */
interface EndedCall {
  readonly trace_id: string | null
  readonly ended_at: number
}

/** Writes the sums that an earlier process deferred and did not write. Returns the number of runs. `reach_ms`: how long ago it may have been, where others have recorded since. */
export const recoverSums = async (gateway: Gateway, reach_ms?: number): Promise<number> => {
  const { storage } = gateway
  const outdated = new Set<string>()
  await addOutdated(outdated, gateway, pages(storage, 'calls', {}), (call) => call, reach_ms)
  if (storage.has('mcp_audit')) await addOutdated(outdated, gateway, pages(storage, 'mcp_audit', {}), toolEnd, reach_ms)
  let recovered = 0
  for (const trace_id of outdated) if (await rewriteRow(gateway, trace_id)) recovered++
  return recovered
}

const toolEnd = (row: ToolRecord): EndedCall => ({
  trace_id: row.traced === true ? row.trace_id : null,
  ended_at: Math.floor(row.at + (row.duration_us ?? 0) / 1000),
})

/** Adds the runs whose last write is older than the end of one of their calls. */
const addOutdated = <R>(
  outdated: Set<string>,
  { storage }: Gateway,
  records: AsyncIterable<readonly R[]>,
  endOf: (record: R) => EndedCall,
  reach_ms: number | undefined,
): Promise<void> =>
  findUnsummed(
    records,
    (record) => endOf(record).ended_at,
    async (page) => {
      const ids = new Set(page.flatMap((record) => endOf(record).trace_id ?? []))
      const runs = await Promise.all([...ids].map((trace_id) => storage.get('runs', trace_id)))
      const updated = new Map(
        runs.flatMap((run) => (run === undefined ? [] : [[run.trace_id, run.updated_ns] as const])),
      )
      return page.filter((record) => {
        const { trace_id, ended_at } = endOf(record)
        const isOutdated = trace_id !== null && (updated.get(trace_id) ?? Infinity) < BigInt(ended_at) * NS_PER_MS
        if (isOutdated) outdated.add(trace_id)
        return isOutdated
      })
    },
    reach_ms,
  )

/** False: another process wrote the run first. */
const rewriteRow = async (gateway: Gateway, trace_id: string): Promise<boolean> => {
  const run = await loadRun(gateway.storage, trace_id)
  if (run === undefined) return false
  const now_ns = nowNs(gateway.clock)
  const { end_ns } = run.spans.sums
  // the clock may have been set back since its records were written
  return gateway.storage.write([callChange(run, false, end_ns !== null && end_ns > now_ns ? end_ns : now_ns)])
}
