import { type Fragment, type Gateway, GuardError, type Owner } from 'guard-gateway/core'
import { clientHasExited } from '#lib/ids'
import type { RunRow, SpanRow } from '../tables.ts'
import { DAY_NS, nowNs } from '../time.ts'
import { WRITER_GONE } from '../write/merge.ts'
import { isGuarded } from '../write/run-row.ts'
import { hasStopped } from '../write/staging.ts'
import { allRows } from '../write/stored-records.ts'

const PAGE = 200
const GATEWAY_MESSAGE = 'gateway stopped before the request ended'

/** Ends running spans whose writer has exited. Returns the number of runs. */
export const endAbandonedRuns = async (gateway: Gateway): Promise<number> => {
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
  const isOver = isOld || (await hasStopped(gateway, run.writer))
  const guarded = isGuarded(run) && isOver
  const clients = isOld || hasClientExited(run, isOver)
  if (!(guarded || clients)) return false
  const spans = await allRows(gateway.storage, 'spans', { trace_id: run.trace_id })
  const open = spans.filter(({ end_ns, owner }) => end_ns === null && (owner === 'client' ? clients : guarded))
  let ended = false
  for (const [owner, left] of Map.groupBy(open, (span) => span.owner))
    ended = (await keep(gateway, run, owner, left)) || ended
  // no span is open, but its client has set the status `running`
  if (open.length === 0 && clients && run.given.status === 'running') return keep(gateway, run, 'client', [])
  return ended
}

/** True if the client of a run has exited. A client that did not name its process counts as exited together with the gateway that it wrote to; its later records open its spans again. */
const hasClientExited = ({ given, attributes }: RunRow, hasGatewayExited: boolean): boolean => {
  const { 'resource.host.name': host, 'resource.process.pid': pid } = attributes
  const client = given.writer ?? (typeof host === 'string' && typeof pid === 'number' ? `${host}:${pid}` : undefined)
  return client === undefined ? hasGatewayExited : clientHasExited(client)
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
