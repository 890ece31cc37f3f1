import type { Gateway } from 'guard-gateway/core'
import { lookBack, pages } from 'guard-gateway/lib/paging'
import type { ToolRecord } from 'guard-gateway/lib/trace'
import { NS_PER_MS, nowNs } from '../time.ts'
import { loadRun } from './open-runs.ts'
import { callChange } from './run-change.ts'

/** When a call of a run ended. */
interface Ended {
  readonly trace_id: string | null
  readonly ended_at: number
}

/** Makes up for what an earlier process did not come to: sums of runs whose last calls are on record. Gives how many runs that were. */
export const catchUp = async (gateway: Gateway): Promise<number> => {
  const { storage } = gateway
  const late = new Set<string>()
  await addLate(late, gateway, pages(storage, 'calls', {}), (call) => call)
  if (storage.has('mcp_audit')) await addLate(late, gateway, pages(storage, 'mcp_audit', {}), toolEnd)
  let caught = 0
  for (const trace_id of late) if (await written(gateway, trace_id)) caught++
  return caught
}

const toolEnd = (row: ToolRecord): Ended => ({
  trace_id: row.traced === true ? row.trace_id : null,
  ended_at: Math.floor(row.at + (row.duration_us ?? 0) / 1000),
})

/** Adds the runs that were last written before one of their calls ended. */
const addLate = <R>(
  late: Set<string>,
  { storage }: Gateway,
  records: AsyncIterable<readonly R[]>,
  endOf: (record: R) => Ended,
): Promise<void> =>
  lookBack(
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
        const isLate = trace_id !== null && (updated.get(trace_id) ?? Infinity) < BigInt(ended_at) * NS_PER_MS
        if (isLate) late.add(trace_id)
        return isLate
      })
    },
  )

/** False: somebody else was first. */
const written = async (gateway: Gateway, trace_id: string): Promise<boolean> => {
  const run = await loadRun(gateway.storage, trace_id)
  if (run === undefined) return false
  const now_ns = nowNs(gateway.clock)
  const { end_ns } = run.spans.sums
  // not before its records, whatever the clock says by now
  return gateway.storage.write([callChange(run, false, end_ns !== null && end_ns > now_ns ? end_ns : now_ns)])
}
