import {
  type CallRecord,
  type Change,
  type Gateway,
  GuardError,
  type Session,
  type SessionRow,
  type Settled,
  traceOf,
} from 'guard-gateway/core'
import { type Previews, requestPreview, responsePreview } from './preview.ts'
import { callRecord, sessionTotals } from './rows.ts'

export interface RecorderOptions {
  /** Keep redacted previews of requests and replies. */
  readonly full_content_logging?: boolean
}

/** Records settled calls: one write each, resolved when it is durable. Rejects if it could not be written. */
export const settler = (gateway: Gateway, { full_content_logging = false }: RecorderOptions) => {
  /** Blocked requests that are being recorded: their repetitions, which may come meanwhile, are counted on that record. */
  const blocks = new Map<string, Promise<void>>()
  /** Sessions whose row is known to be stored. */
  const stored = new WeakSet<Session>()

  const isLikelyStored = (session: Session): boolean =>
    stored.has(session) || session.row.requests + session.row.blocked > 1

  /** Others that are written meanwhile may store a session; what was stored may have been removed, which is rare. */
  const isStored = (session: Session | null, likely: boolean, attempt: number): boolean =>
    session !== null && stored.has(session) ? attempt % 3 !== 2 : likely === (attempt % 2 === 0)

  const write = async (settled: Settled, previews: Previews): Promise<void> => {
    const { session } = settled.call
    const continues = gateway.apiStyles.get(settled.call.style)?.continues === true
    const record = callRecord(settled, gateway.redact, previews, continues)
    const likely = session !== null && isLikelyStored(session)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const batch = ownChanges(settled, record, isStored(session, likely, attempt))
      if (gateway.hooks.record.isUsed()) await gateway.hooks.record.promise({ settled, record, attempt, batch })
      if (!(await gateway.storage.write(batch, HOLD))) continue
      if (session !== null) stored.add(session)
      return
    }
    throw new GuardError(
      'STORAGE_BUSY',
      `Request ${settled.call.id} could not be recorded: its session or its trace changed at the same time.`,
    )
  }

  const record = async (settled: Settled): Promise<void> =>
    write(settled, full_content_logging ? await previewsOf(gateway, settled) : NO_PREVIEWS)

  return async (settled: Settled): Promise<void> => {
    const { call, decision } = settled
    if (decision.repeats !== null) {
      await blocks.get(decision.repeats)?.catch(() => {})
      if (await countRepeat(gateway, settled, decision.repeats)) return
    }
    const recorded = record(settled)
    if (decision.decision !== 'block') return recorded
    blocks.set(call.id, recorded)
    return recorded.finally(() => blocks.delete(call.id))
  }
}

/** A record that cannot be written yet waits for the disk; how long the reply waits is the pipeline's affair. */
const HOLD = { hold: true }
/** A session's row may be stored or not, and many others may write the trace at once, of which only the first may be sure to succeed. */
const ATTEMPTS = 24
const NO_PREVIEWS: Previews = { request: null, response: null }

/** What the recorder itself writes of a call: its row, which also stands for its decision in the session's history, and the session's totals. */
const ownChanges = (settled: Settled, record: CallRecord, stored: boolean): Change[] => {
  const { session } = settled.call
  const call: Change = { table: 'calls', put: record }
  if (session === null) return [call]
  return [call, sessionChange(session.row, stored)]
}

/** A stored session gets its totals; a new one is put whole. */
const sessionChange = (row: SessionRow, stored: boolean): Change =>
  stored
    ? { table: 'sessions', key: row.id, patch: sessionTotals(row) }
    : { table: 'sessions', put: row, when: 'absent' }

/** Counts an identical blocked request on the record of the first one; false if that is not on record. */
const countRepeat = (gateway: Gateway, { call }: Settled, first: string): Promise<boolean> =>
  gateway.storage.exclusive('calls', first, async (read) => {
    const record = await read.get('calls', first)
    if (record === undefined) return [false, []]
    const trace = traceOf(record)
    if (trace !== undefined) call.trace = trace
    const patch = { retries: record.retries + 1, last_at: call.at, last_request_id: call.id }
    const batch: Change[] = [{ table: 'calls', key: first, patch }]
    const session = call.session?.row
    if (session !== undefined && (await read.get('sessions', session.id)) !== undefined)
      batch.push(sessionChange(session, true))
    return [true, batch]
  })

/** A preview that fails is a fault, never a lost record. */
const previewsOf = async (gateway: Gateway, settled: Settled): Promise<Previews> => {
  const style = gateway.apiStyles.get(settled.call.style)
  try {
    return {
      request: style === undefined ? null : await requestPreview(settled.call, style, gateway.redact),
      response: responsePreview(settled, gateway.redact),
    }
  } catch (error) {
    gateway.fault(error, 'recorder:preview')
    return NO_PREVIEWS
  }
}
