import type { Call, Change, Decision, Gateway, Session } from 'guard-gateway/core'
import { newCallRecord, type OpenCallRow, openRecordOf, type Previews, recordOfOpen, unsettled } from '#lib/trace'
import type { HourSums } from './figures/hour-sums.ts'

const PAGE_ROWS = 100
const NO_PREVIEWS: Previews = { request: null, response: null }
/** The process of a storage that only one uses at a time. */
const ONLY = ''

/**
 * Calls that a budget counts are on record before they go up where it is enforced, so that a process that dies gives no budget back. Where several processes
 * share a storage, the decision itself is on record.
 */
export class OpenCalls {
  readonly #gateway: Gateway
  readonly #begun = new Set<string>()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Puts a decided call on record; it is safe from the death of the process then. Undefined where no budget counts it, or it is on record. Rejects if it cannot be recorded. */
  begin(call: Call, decision: Decision): Promise<void> | undefined {
    const gateway = this.#gateway
    const { session, notes } = call
    // in shadow mode no budget refuses anything
    if (call.mode !== 'enforce') return undefined
    if (decision.decision === 'block' || decision.row === null || call.uncounted !== undefined) return undefined
    if (session === null || notes.recorded === false || gateway.service('claims').get() !== undefined) return undefined
    const unseen = gateway.service('rules').get()?.unseen(call.project_id)
    if (unseen === undefined) return undefined
    const settled = unsettled(call, decision, unseen, gateway.service('prices').get())
    const continues = gateway.apiStyles.get(call.style)?.continues === true
    const record = newCallRecord(settled, gateway.redact, NO_PREVIEWS, continues)
    const { reserved } = decision.row
    const put = {
      id: call.id,
      session_id: session.row.id,
      instance: ONLY,
      reserved,
      windows: [],
      ...openRecordOf(record),
    }
    this.#begun.add(call.id)
    return this.#write(call.id, session, { table: 'open_calls', put })
  }

  async #write(id: string, session: Session, change: Change): Promise<void> {
    const { storage } = this.#gateway
    // another request of the session may have stored it meanwhile
    const again = async () => void (await storage.write([change]))
    const first: readonly Change[] =
      session.stored === true ? [] : [{ table: 'sessions', put: { ...session.row }, when: 'absent' }]
    try {
      if (!(await storage.write([...first, change], { onRefused: again }))) await again()
      session.stored = true
    } catch (error) {
      this.#begun.delete(id)
      throw error
    }
  }

  /** The change that ends what `begin` wrote. */
  ended(id: string): readonly Change[] {
    return this.#begun.delete(id) ? [{ table: 'open_calls', key: id, remove: true }] : []
  }
}

/** Ends the calls that a process has left open which has died, each once: they are recorded as interrupted, and count as their record says. */
export const endOpenCalls = async (gateway: Gateway, sums: HourSums, instance = ONLY): Promise<void> => {
  const { storage } = gateway
  for (let left = PAGE_ROWS; left === PAGE_ROWS; ) {
    const { rows } = await storage.find('open_calls', { where: { instance }, limit: PAGE_ROWS })
    for (const row of rows) {
      if (!(await storage.write(endOf(gateway, row, sums)))) await storage.remove('open_calls', { id: row.id }, 1)
    }
    left = rows.length
  }
}

/** Fails if the call is on record, or its session is not. */
const endOf = (gateway: Gateway, open: OpenCallRow, sums: HourSums): readonly Change[] => {
  const known = recordOfOpen(open)
  const record = { ...known, ended_at: Math.max(known.received_at, gateway.clock.now()) }
  const { input_tokens, output_tokens, total_tokens, cost_micro } = record
  const add = { input_tokens, output_tokens, total_tokens, cost_micro: cost_micro ?? 0 }
  return [
    { table: 'calls', put: record, when: 'absent' },
    { table: 'sessions', key: open.session_id, patch: {} },
    { table: 'sessions', key: open.session_id, add },
    ...(gateway.service('claims').get()?.released(open, record) ?? []),
    { table: 'open_calls', key: open.id, remove: true },
    sums.call(record),
  ]
}
