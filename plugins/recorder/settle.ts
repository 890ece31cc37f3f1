import { type Change, type Gateway, GuardError, type Session, type SessionRow, type Settled } from 'guard-gateway/core'
import { type Previews, requestPreview, responsePreview } from './preview.ts'
import { callRecord, decisionEvent, sessionTotals } from './rows.ts'

export interface RecorderOptions {
  /** Keep redacted previews of requests and replies. */
  readonly full_content_logging?: boolean
}

/** Records settled calls: one write each, resolved when it is durable. Rejects if it could not be written. */
export const settler = (gateway: Gateway, { full_content_logging = false }: RecorderOptions) => {
  /** Sessions whose row is known to be stored. */
  const stored = new WeakSet<Session>()

  const write = async (settled: Settled, previews: Previews): Promise<void> => {
    const { session } = settled.call
    const call: Change = { table: 'calls', put: callRecord(settled, gateway.redact, previews) }
    if (session === null) return void (await gateway.storage.write([call], HOLD))
    const event: Change = { table: 'session_events', put: decisionEvent(settled, session.row) }
    const likely = stored.has(session) || session.row.requests + session.row.blocked > 1
    if (
      !(await gateway.storage.write([call, event, sessionChange(session.row, likely)], HOLD)) &&
      !(await gateway.storage.write([call, event, sessionChange(session.row, !likely)], HOLD))
    ) {
      throw new GuardError(
        'STORAGE_BUSY',
        `Request ${settled.call.id} could not be recorded: its session changed at the same time.`,
      )
    }
    stored.add(session)
  }

  return async (settled: Settled): Promise<void> => {
    if (settled.decision.repeats !== null && (await countRepeat(gateway, settled, settled.decision.repeats))) return
    await write(settled, full_content_logging ? await previewsOf(gateway, settled) : NO_PREVIEWS)
  }
}

/** A record that cannot be written yet waits for the disk; how long the reply waits is the pipeline's affair. */
const HOLD = { hold: true }
const NO_PREVIEWS: Previews = { request: null, response: null }

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
