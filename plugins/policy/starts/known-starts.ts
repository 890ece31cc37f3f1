import type { Call, Decision, Gateway, Row, Session, Settled, Start } from 'guard-gateway/core'
import { pages } from '#lib/paging'
import { requestsIn } from '#lib/session'
import { type CallRecord, newTurnsOf } from '#lib/trace'
import { hasFailed } from '../history/settle.ts'
import type { Policy } from '../policy.ts'
import { type StartRequest, Starts } from './starts.ts'

/** How far back starts are read from recorded calls after a restart, and how many requests at most. */
const LOOKBACK_MS = 86_400_000
const MAX_ROWS = 5_000

/** The starts that detectors compare, one collection per detector: read from recorded calls once, when a policy first has such a rule. */
export class KnownStarts {
  readonly #gateway: Gateway
  readonly #by = new Map<string, Starts>()
  #isRead = false
  #reading: Promise<void> | undefined

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Undefined if the starts that a policy needs are in memory; else they are being read. */
  ready({ comparing }: Pick<Policy, 'comparing'>): Promise<void> | undefined {
    if (comparing.length === 0 || this.#isRead) return undefined
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  /** Earlier starts that started as a call, newest first, since the session was resumed; undefined if the call is none. */
  before(detector: string, call: Call, row: Row, { row: { id, resumed_at } }: Session): readonly Start[] | undefined {
    const starts = this.#by.get(detector)?.before(requestOf(call, id, row.measures[detector]))
    return resumed_at === null ? starts : starts?.filter(({ at }) => at > resumed_at)
  }

  forwarded({ comparing }: Pick<Policy, 'comparing'>, call: Call, row: Row, session: Session): void {
    for (const id of comparing) this.#by.get(id)?.forwarded(requestOf(call, session.row.id, row.measures[id]), row)
  }

  /** Another plugin has changed what was decided about a call. */
  turned(before: Decision, after: Decision, found: Policy, call: Call, session: Session): void {
    if (call.uncounted !== undefined) return
    const [was, is] = [before.decision !== 'block', after.decision !== 'block']
    if (was && !is)
      for (const starts of this.#by.values()) starts.withdrawn({ id: call.id, session_id: session.row.id })
    if (is && !was && after.row !== null) this.forwarded(found, call, after.row, session)
  }

  ended(settled: Settled, session: Session): void {
    for (const starts of this.#by.values()) starts.ended(session.row.id, settled.ended_at, hasFailed(settled))
  }

  async #read(): Promise<void> {
    const { clock, detectors, storage, tables } = this.#gateway
    const ids = detectors.ids().filter((id) => detectors.get(id)?.compares === 'starts')
    const records: CallRecord[] = []
    if (tables.get('calls') !== undefined) {
      const where = { received_at: { gte: clock.now() - LOOKBACK_MS } }
      for await (const page of pages(storage, 'calls', { where, order: ['received_at', 'desc'] })) {
        records.push(...page)
        if (records.length >= MAX_ROWS) break
      }
    }
    for (const id of ids) this.#by.set(id, startsOf(records.toReversed(), id))
    this.#isRead = true
  }
}

/** The starts of recorded requests, oldest first. */
const startsOf = (records: readonly CallRecord[], detector: string): Starts => {
  const starts = new Starts()
  for (const record of records) {
    if (record.decision === 'block' || record.session_id === null || requestsIn(record) === 0) continue
    starts.forwarded(recordedRequest(record, record.session_id, detector), {
      retry: record.retry,
      new_turns: newTurnsOf(record),
    })
    starts.ended(record.session_id, record.ended_at, hasFailed(record))
  }
  return starts
}

/** A recorded request as input of starts. */
export const recordedRequest = (record: CallRecord, session_id: string, detector: string): StartRequest => ({
  id: record.id,
  project_id: record.project_id,
  agent_id: record.agent_id,
  client: record.client,
  style: record.style,
  session_id,
  at: record.received_at,
  print: fingerprintOf(record.measures?.[detector]),
})

const requestOf = (call: Call, session_id: string, measure: unknown): StartRequest => ({
  id: call.id,
  project_id: call.project_id,
  agent_id: call.agent_id,
  client: call.client,
  style: call.style,
  session_id,
  at: call.at,
  tick: call.tick,
  print: fingerprintOf(measure),
})

const fingerprintOf = (measure: unknown): string => (typeof measure === 'string' ? measure : '')
