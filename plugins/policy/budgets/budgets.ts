import type { Call, Gateway, Per, Period, Row, Session, Settled, Totals } from 'guard-gateway/core'
import { everyProject } from '#lib/principal'
import { requestsIn } from '#lib/session'
import type { Calendar } from '#lib/time'
import type { Spender } from '../evaluate/evidence-sources.ts'
import { hasFailed, isUnpriced } from '../history/settle.ts'
import { noUsage, type Usage } from '../history/usage.ts'
import type { Policy } from '../policy.ts'
import { RecordingGate } from './recording-gate.ts'
import { latestOnRecord, removedUses, type StoredUse, storedUses } from './stored-uses.ts'
import { WindowUse } from './window-use.ts'

/** Periods of one kind that are kept: the present one, and those that a request which took long, or a clock that was set back, belongs to. */
const RETAINED_MS = 3

/** A forwarded request in progress, and where it was counted. */
interface Open {
  readonly call: Call
  readonly row: Row
  readonly windows: WindowUse[]
}

const noWindows: readonly WindowUse[] = Object.freeze([])

/**
 * What agents and projects have used in the stretches of the calendar that some budget is about. A stretch is read from the record once, when
 * a rule first asks for it, and counted in memory from then on: requests when they are decided, tokens and costs when they end. Without
 * such a rule nothing is counted.
 */
export class Budgets {
  readonly calendar: Calendar
  readonly gate = new RecordingGate()
  readonly #gateway: Gateway
  /** By kind of stretch that a rule has asked for; those used first come first. */
  readonly #windows = new Map<Per, WindowUse[]>()
  readonly #reading = new Map<string, Promise<void>>()
  /** By session, so that those that nobody settles can be released. */
  readonly #open = new Map<Session, Map<Row, Open>>()
  /** When the latest request arrived, of those on record, once they were examined, and those that were counted. */
  #latest = 0
  #isLooked = false

  constructor(gateway: Gateway, calendar: Calendar) {
    this.#gateway = gateway
    this.calendar = calendar
  }

  /** Undefined if what the rules of a policy need is known for a request that arrived at `at`; else it is read. */
  ready({ pers }: Pick<Policy, 'pers'>, at: number): Promise<unknown> | undefined {
    if (pers.length === 0) return undefined
    const reading = pers.flatMap((per) => this.#ready(per, at) ?? [])
    return reading.length === 0 ? undefined : Promise.all(reading)
  }

  totals({ scope, per }: Period, { project_id, agent_id, at }: Spender): Totals {
    const window = this.window(per, at)
    if (window === undefined) throw new Error(`what was used in the ${per} is not known yet`)
    const used = window.of(scope, project_id, agent_id) ?? noUsage()
    const period = { scope, per, resets_at: window.window.end, next: window.next, named: agent_id !== null }
    return { ...used, outcomes: [], probe_open: false, period }
  }

  /** Some rule has asked for a period since the process started. */
  get isQueried(): boolean {
    return this.#windows.size > 0
  }

  /** What came in the stretch that holds `at`, if it is known. */
  window(per: Per, at: number): WindowUse | undefined {
    return this.#windows.get(per)?.find((window) => window.holds(at)) ?? this.#fresh(per, at)
  }

  /** Counts a request that is forwarded, in the same step in which it was decided. */
  forwarded(call: Call, session: Session, row: Row): void {
    if (this.#windows.size === 0) return
    const open: Open = { call, row, windows: [] }
    for (const per of this.#windows.keys()) {
      const window = this.window(per, call.at)
      if (window !== undefined) begin(open, window)
    }
    this.#latest = Math.max(this.#latest, call.at)
    const others = this.#open.get(session)
    if (others === undefined) this.#open.set(session, new Map([[row, open]]))
    else others.set(row, open)
  }

  /** Takes back what `forwarded` counted. */
  withdrawn(session: Session, row: Row): void {
    const open = this.#taken(session, row)
    if (open !== undefined) undoBegin(open)
  }

  /** Counts what a request has used that ends. */
  settled(settled: Settled, session: Session, row: Row): void {
    if (this.#windows.size === 0) return
    const { call, outcome } = settled
    const open = this.#taken(session, row)
    if (outcome === 'blocked') {
      if (open !== undefined) undoBegin(open)
      return
    }
    const used = usageOf(settled)
    const counted = open?.windows ?? noWindows
    for (const window of counted)
      window.add(call.project_id, call.agent_id, { ...used, requests: 0, reserved: -row.reserved })
    // the rules of these periods were added after it had been decided
    for (const per of this.#windows.keys()) {
      const window = this.window(per, call.at)
      if (window !== undefined && !counted.includes(window)) window.add(call.project_id, call.agent_id, used)
    }
  }

  /** Drops the requests of a session that will never settle: none of them is stored. */
  release(session: Session): void {
    const opens = this.#open.get(session)
    if (opens === undefined) return
    this.#open.delete(session)
    for (const open of opens.values()) undoBegin(open)
  }

  #taken(session: Session, row: Row): Open | undefined {
    const opens = this.#open.get(session)
    const open = opens?.get(row)
    opens?.delete(row)
    if (opens?.size === 0) this.#open.delete(session)
    return open
  }

  #ready(per: Per, at: number): Promise<void> | undefined {
    if (!this.#windows.has(per)) this.#windows.set(per, [])
    if (this.window(per, at) !== undefined) return undefined
    const window = new WindowUse(per, this.calendar.windowAt(per, at), this.calendar)
    const name = `${per} ${window.window.start}`
    const reading =
      this.#reading.get(name) ?? everyProject(() => this.#read(window)).finally(() => this.#reading.delete(name))
    this.#reading.set(name, reading)
    return reading
  }

  /** A stretch that started after all requests that are known of holds nothing yet. */
  #fresh(per: Per, at: number): WindowUse | undefined {
    if (!this.#isLooked) return undefined
    const window = this.calendar.windowAt(per, at)
    return window.start > this.#latest ? this.#keep(new WindowUse(per, window, this.calendar)) : undefined
  }

  #keep(window: WindowUse): WindowUse {
    const windows = this.#windows.get(window.per) ?? []
    windows.unshift(window)
    if (windows.length > RETAINED_MS) windows.length = RETAINED_MS
    this.#windows.set(window.per, windows)
    return window
  }

  async #read(window: WindowUse): Promise<void> {
    await this.gate.still(async () => {
      const stored = await this.#stored(window)
      // from here on in one step, so that every request is counted once
      for (const { project_id, agent_id, used } of stored) window.add(project_id, agent_id, used)
      for (const opens of this.#open.values()) beginAll(opens.values(), window)
      this.#keep(window)
      this.#isLooked = true
    })
  }

  async #stored({ window }: WindowUse): Promise<readonly StoredUse[]> {
    const { storage, tables } = this.#gateway
    if (tables.get('calls') === undefined) return []
    if (!this.#isLooked) this.#latest = Math.max(await latestOnRecord(storage), this.#latest)
    return [...(await storedUses(storage, window)), ...(await removedUses(storage, window))]
  }
}

const beginAll = (opens: Iterable<Open>, window: WindowUse): void => {
  for (const open of opens) if (window.holds(open.call.at)) begin(open, window)
}

const begin = (open: Open, window: WindowUse): void => {
  open.windows.push(window)
  window.add(open.call.project_id, open.call.agent_id, { requests: 1, reserved: open.row.reserved })
}

const undoBegin = ({ call, row, windows }: Open): void => {
  for (const window of windows) window.add(call.project_id, call.agent_id, { requests: -1, reserved: -row.reserved })
}

const usageOf = (settled: Settled): Usage => {
  const { usage, cost } = settled
  return {
    requests: requestsIn(settled.call),
    failed: hasFailed(settled) ? 1 : 0,
    unpriced: isUnpriced(usage.total_tokens, cost?.cost_source) ? 1 : 0,
    tokens: usage.total_tokens,
    cache_read_tokens: usage.cache_read_tokens,
    cost_micro: cost?.cost_micro ?? 0,
    reserved: 0,
  }
}
