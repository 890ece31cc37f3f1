import type { Gateway } from 'guard-gateway/core'
import { findUnsummed, pages } from 'guard-gateway/lib/paging'
import { type CallRecord, type ToolRecord, traceOf } from 'guard-gateway/lib/trace'
import { NS_PER_MS, nowNs } from '../time.ts'
import { OpenRun } from './open-run.ts'
import { loadRun } from './open-runs.ts'
import { callChange } from './run-change.ts'
import { newRow, originOf } from './run-row.ts'

/** The run of a call, and when the call ended. */
interface EndedCall {
  readonly trace_id: string | null
  readonly ended_at: number
  /** When it was known to its process at the latest, if it did not end there. */
  readonly seen_at?: number
  /** A call that its process left open may have no run yet: it begins one. */
  readonly begins?: CallRecord | false
}

/** Writes the sums that an earlier process deferred and did not write. Returns the number of runs. `reach_ms`: how long ago it may have been, where others have recorded since. */
export const recoverSums = async (gateway: Gateway, reach_ms?: number): Promise<number> => {
  const { storage } = gateway
  const outdated = new Map<string, CallRecord | false>()
  await addOutdated(outdated, gateway, pages(storage, 'calls', {}), callEnd, reach_ms)
  if (storage.has('mcp_audit')) await addOutdated(outdated, gateway, pages(storage, 'mcp_audit', {}), toolEnd, reach_ms)
  let recovered = 0
  for (const [trace_id, begins] of outdated) if (await rewriteRow(gateway, trace_id, begins)) recovered++
  return recovered
}

const callEnd = (call: CallRecord): EndedCall => ({
  trace_id: call.trace_id,
  ended_at: call.ended_at,
  ...(call.outcome === 'interrupted' && call.forwarded_at === null && { seen_at: call.received_at, begins: call }),
})

const toolEnd = (row: ToolRecord): EndedCall => ({
  trace_id: row.traced === true ? row.trace_id : null,
  ended_at: Math.floor(row.at + (row.duration_us ?? 0) / 1000),
})

/** Adds the runs whose last write is older than the end of one of their calls. */
const addOutdated = <R>(
  outdated: Map<string, CallRecord | false>,
  { storage }: Gateway,
  records: AsyncIterable<readonly R[]>,
  endOf: (record: R) => EndedCall,
  reach_ms: number | undefined,
): Promise<void> =>
  findUnsummed(
    records,
    (record) => endOf(record).seen_at ?? endOf(record).ended_at,
    async (page) => {
      const ids = new Set(page.flatMap((record) => endOf(record).trace_id ?? []))
      const runs = await Promise.all([...ids].map((trace_id) => storage.get('runs', trace_id)))
      const updated = new Map(
        runs.flatMap((run) => (run === undefined ? [] : [[run.trace_id, run.updated_ns] as const])),
      )
      return page.filter((record) => {
        const { trace_id, ended_at, begins = false } = endOf(record)
        if (trace_id === null) return false
        const unknown = begins === false ? Infinity : 0n
        const isOutdated = (updated.get(trace_id) ?? unknown) < BigInt(ended_at) * NS_PER_MS
        if (isOutdated) outdated.set(trace_id, begins || (outdated.get(trace_id) ?? false))
        return isOutdated
      })
    },
    reach_ms,
  )

/** False: another process wrote the run first. */
const rewriteRow = async (gateway: Gateway, trace_id: string, begins: CallRecord | false): Promise<boolean> => {
  const run = (await loadRun(gateway.storage, trace_id)) ?? (begins ? begunRun(gateway, trace_id, begins) : undefined)
  if (run === undefined) return false
  const now_ns = nowNs(gateway.clock)
  const { end_ns } = run.spans.sums
  // the clock may have been set back since its records were written
  return gateway.storage.write([callChange(run, !run.stored, end_ns !== null && end_ns > now_ns ? end_ns : now_ns)])
}

/** The run that a call would have begun. */
const begunRun = ({ redact }: Gateway, trace_id: string, call: CallRecord): OpenRun => {
  const { project_id, session_id, agent_id, received_at } = call
  const row = newRow({ trace_id, project_id, session_id, agent_id }, originOf(call), BigInt(received_at) * NS_PER_MS)
  const run = new OpenRun(row, false)
  const trace = traceOf(call)
  if (trace !== undefined) run.addCall(call, trace, redact.text)
  return run
}
