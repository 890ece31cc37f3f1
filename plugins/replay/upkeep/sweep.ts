import { type Fragment, type Gateway, GuardError, type Owner } from 'guard-gateway/core'
import { WRITER_GONE } from '../keep/merge.ts'
import { isGuarded } from '../keep/run-row.ts'
import { allRows } from '../keep/stored-records.ts'
import { clientHasGone, hasGone } from '../keep/writer.ts'
import type { RunRow, SpanRow } from '../tables.ts'
import { DAY_NS, nowNs } from '../time.ts'

const PAGE = 200
const GATEWAY_MESSAGE = 'gateway stopped before the request ended'

/** Ends spans that run although their writer has gone before it could; gives how many runs that were. */
export const sweep = async (gateway: Gateway): Promise<number> => {
  const now_ns = nowNs(gateway.clock)
  let swept = 0
  let cursor: string | null = null
  do {
    const page: { readonly rows: readonly RunRow[]; readonly next_cursor: string | null } = await gateway.storage.find(
      'runs',
      { where: { status: 'running' }, limit: PAGE, ...(cursor === null ? {} : { cursor }) },
    )
    for (const run of page.rows) if (await endRun(gateway, run, now_ns)) swept++
    cursor = page.next_cursor
  } while (cursor !== null)
  return swept
}

const endRun = async (gateway: Gateway, run: RunRow, now_ns: bigint): Promise<boolean> => {
  const isOld = run.updated_ns < now_ns - DAY_NS
  const guarded = isGuarded(run) && (isOld || hasGone(run.writer))
  const clients = isOld || isClientGone(run, hasGone(run.writer))
  if (!(guarded || clients)) return false
  const spans = await allRows(gateway.storage, 'spans', { trace_id: run.trace_id })
  const open = spans.filter(({ end_ns, owner }) => end_ns === null && (owner === 'client' ? clients : guarded))
  let ended = false
  for (const [owner, left] of Map.groupBy(open, (span) => span.owner))
    ended = (await keep(gateway, run, owner, left)) || ended
  // nothing is open, and still its client has said that it runs
  if (open.length === 0 && clients && run.given.status === 'running') return keep(gateway, run, 'client', [])
  return ended
}

/** Whether the client of a run has gone. Where it did not say which process it is, it is taken to have gone with the gateway that it wrote to; what it sends later opens its spans again. */
const isClientGone = ({ given, attributes }: RunRow, gatewayGone: boolean): boolean => {
  const { 'resource.host.name': host, 'resource.process.pid': pid } = attributes
  const told = given.writer ?? (typeof host === 'string' && typeof pid === 'number' ? `${host}:${pid}` : undefined)
  return told === undefined ? gatewayGone : clientHasGone(told)
}

const keep = async (gateway: Gateway, run: RunRow, owner: Owner, open: readonly SpanRow[]): Promise<boolean> => {
  const isClient = owner === 'client'
  const end_ns = run.updated_ns > run.start_ns ? run.updated_ns : run.start_ns
  const fragment: Fragment = {
    owner,
    origin: run.origin,
    run: {
      trace_id: run.trace_id,
      ...(isClient && run.given.status === 'running' ? { status: 'error', end_ns } : {}),
    },
    spans: open.map((span) => ended(span, run.updated_ns, isClient ? WRITER_GONE : GATEWAY_MESSAGE)),
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

const ended = ({ id, name, start_ns }: SpanRow, updated_ns: bigint, status_message: string) => ({
  id,
  name,
  status: 'error',
  status_message,
  end_ns: updated_ns > start_ns ? updated_ns : start_ns,
})
