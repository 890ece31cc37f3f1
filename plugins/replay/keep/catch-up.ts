import { type Gateway, LookBack, type ToolRecord } from 'guard-gateway/core'
import type { RunRow } from '../tables.ts'
import { NS_PER_MS, nowNs } from '../time.ts'
import { loadRun } from './open-runs.ts'
import { callChange } from './run-change.ts'

const PAGE = 500
/** When a call of a run ended. */
interface Ended {
  readonly trace_id: string | null
  readonly ended_at: number
}

interface Page {
  readonly ends: readonly Ended[]
  readonly next_cursor: string | null
}

/** Makes up for what an earlier process did not come to: sums of runs whose last calls are on record. Gives how many runs that were. */
export const catchUp = async (gateway: Gateway): Promise<number> => {
  const { storage } = gateway
  const models = await caughtUp(gateway, async (more) => {
    const { rows, next_cursor } = await storage.find('calls', { limit: PAGE, ...more })
    return { ends: rows, next_cursor }
  })
  if (!storage.has('mcp_audit')) return models
  const tools = await caughtUp(gateway, async (more) => {
    const { rows, next_cursor } = await storage.find('mcp_audit', { limit: PAGE, ...more })
    return { ends: rows.map(toolEnd), next_cursor }
  })
  return models + tools
}

const toolEnd = (row: ToolRecord): Ended => ({
  trace_id: row.traced === true ? row.trace_id : null,
  ended_at: Math.floor(row.at + (row.duration_us ?? 0) / 1000),
})

const caughtUp = async (
  gateway: Gateway,
  read: (more: { readonly cursor?: string }) => Promise<Page>,
): Promise<number> => {
  const late = new Set<string>()
  let lookBack: LookBack | undefined
  let cursor: string | null = null
  do {
    const page: Page = await read(cursor === null ? {} : { cursor })
    const oldest = page.ends.at(-1)?.ended_at ?? 0
    lookBack ??= new LookBack(page.ends[0]?.ended_at ?? 0)
    const found = await behind(gateway, page.ends)
    if (found.length > 0) lookBack.behind(oldest)
    for (const trace_id of found) late.add(trace_id)
    cursor = lookBack.reaches(oldest) ? page.next_cursor : null
  } while (cursor !== null)
  let caught = 0
  for (const trace_id of late) if (await written(gateway, trace_id)) caught++
  return caught
}

/** Runs that were last written before one of these calls ended. */
const behind = async (gateway: Gateway, ends: readonly Ended[]): Promise<readonly string[]> => {
  const ended = new Map<string, number>()
  for (const { trace_id, ended_at } of ends)
    if (trace_id !== null) ended.set(trace_id, Math.max(ended_at, ended.get(trace_id) ?? 0))
  const rows = await Promise.all([...ended.keys()].map((trace_id) => gateway.storage.get('runs', trace_id)))
  const isBehind = (row: RunRow) => row.updated_ns < BigInt(ended.get(row.trace_id) ?? 0) * NS_PER_MS
  return rows.flatMap((row) => (row !== undefined && isBehind(row) ? [row.trace_id] : []))
}

/** False: somebody else was first. */
const written = async (gateway: Gateway, trace_id: string): Promise<boolean> => {
  const run = await loadRun(gateway.storage, trace_id)
  if (run === undefined) return false
  const now_ns = nowNs(gateway.clock)
  const { end_ns } = run.spans.sums
  // not before its records, whatever the clock says by now
  return gateway.storage.write([callChange(run, false, end_ns !== null && end_ns > now_ns ? end_ns : now_ns)])
}
