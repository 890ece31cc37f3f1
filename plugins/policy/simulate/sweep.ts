import type { Call, Per, Period, Reader, Start, Totals, Turn } from 'guard-gateway/core'
import { pages } from 'guard-gateway/lib/paging'
import { type CallRecord, newTurnsOf } from 'guard-gateway/lib/trace'
import type { Beyond, Spender } from '../beyond.ts'
import type { Calendar } from '../budgets/calendar.ts'
import { WindowUse } from '../budgets/window-use.ts'
import { reservedFor } from '../decide.ts'
import type { Policy } from '../policy.ts'
import { hasFailed, isUnpriced } from '../settle.ts'
import { recordedRequest } from '../starts/known-starts.ts'
import { type StartRequest, Starts } from '../starts/starts.ts'
import { nothingUsed, type Used } from '../used.ts'

/** The newest requests of a project that are looked at. */
const MOST = 100_000

/** What rules were shown beyond the past of each session, by request. */
export interface Swept extends Beyond {
  /** The request is among those that were looked at. */
  knows(id: string): boolean
}

/** As much of a request on record as is kept of all of them. */
interface Passed extends Omit<StartRequest, 'print'> {
  readonly prints: readonly string[]
  readonly ended_at: number
  readonly isForwarded: boolean
  readonly retry: boolean
  readonly turns: readonly Turn[]
  readonly used: Used
}

/**
 * Lets the newest requests of a project pass by, as they came and ended, and notes for each what its agent and its project had used by then, and the
 * starts before it. Undefined where no rule looks beyond a session.
 */
export const sweep = async (
  storage: Reader,
  calendar: Calendar,
  policy: Policy,
  project_id: string,
  until: number | undefined,
): Promise<Swept | undefined> => {
  if (policy.pers.length + policy.comparing.length === 0) return undefined
  const passed: Passed[] = []
  const where = { project_id, received_at: until === undefined ? {} : { lt: until + 1 } }
  for await (const page of pages(storage, 'calls', { where, order: ['received_at', 'desc'] })) {
    for (const record of page) passed.push(passedBy(record, policy.comparing))
    if (passed.length >= MOST) break
  }
  const notes = new Notes(calendar, policy)
  for (const one of passed.toReversed()) notes.add(one)
  return notes
}

const passedBy = (record: CallRecord, comparing: readonly string[]): Passed => ({
  ...recordedRequest(record, record.session_id ?? '', ''),
  prints: comparing.map((id) => recordedRequest(record, '', id).print),
  ended_at: record.ended_at,
  isForwarded: record.decision !== 'block',
  retry: record.retry,
  turns: comparing.length === 0 ? [] : newTurnsOf(record),
  used: {
    requests: 1,
    failed: hasFailed(record) ? 1 : 0,
    unpriced: isUnpriced(record.total_tokens, record.cost_source) ? 1 : 0,
    tokens: record.total_tokens,
    cache_read_tokens: record.cache_read_tokens,
    cost_micro: record.cost_micro ?? 0,
    reserved: reservedFor(record.bytes_in, record.max_tokens),
  },
})

interface Noted {
  readonly used: ReadonlyMap<string, Totals>
  readonly starts: ReadonlyMap<string, readonly Start[]>
}

interface Open {
  readonly passed: Passed
  readonly windows: readonly WindowUse[]
}

class Notes implements Swept {
  readonly #calendar: Calendar
  readonly #periods: readonly Period[]
  readonly #notes = new Map<string, Noted>()
  readonly #windows = new Map<Per, WindowUse>()
  readonly #starts: readonly (readonly [detector: string, starts: Starts])[]
  /** In the order in which they end. */
  readonly #open: Open[] = []

  constructor(calendar: Calendar, { active, comparing }: Policy) {
    this.#calendar = calendar
    const periods = new Map(active.flatMap(({ period }) => (period === undefined ? [] : [[nameOf(period), period]])))
    this.#periods = [...periods.values()]
    this.#starts = comparing.map((id) => [id, new Starts()])
  }

  knows(id: string): boolean {
    return this.#notes.has(id)
  }

  totals(period: Period, { id = '' }: Spender): Totals {
    return this.#notes.get(id)?.used.get(nameOf(period)) ?? { ...nothingUsed(), outcomes: [], probe_open: false }
  }

  starts(detector: string, { id }: Call): readonly Start[] | undefined {
    return this.#notes.get(id)?.starts.get(detector)
  }

  /** The next request that came. */
  add(passed: Passed): void {
    this.#endUntil(passed.at)
    const windows = [...new Set(this.#periods.map(({ per }) => this.#window(per, passed.at)))]
    const used = new Map(this.#periods.map((period) => [nameOf(period), this.#totals(period, passed)]))
    const starts = new Map<string, readonly Start[]>()
    for (const [index, [id, known]] of this.#starts.entries()) {
      const before = known.before({ ...passed, print: passed.prints[index] ?? '' })
      // what they are known to be now, not what becomes of them
      if (before !== undefined)
        starts.set(
          id,
          before.map((start) => ({ ...start })),
        )
    }
    this.#notes.set(passed.id, { used, starts })
    if (passed.isForwarded) this.#begin(passed, windows)
  }

  #begin(passed: Passed, windows: readonly WindowUse[]): void {
    const { project_id, agent_id, used, retry, turns } = passed
    for (const window of windows) window.add(project_id, agent_id, { requests: 1, reserved: used.reserved })
    for (const [index, [, known]] of this.#starts.entries())
      known.forwarded({ ...passed, print: passed.prints[index] ?? '' }, { retry, new_turns: turns })
    const behind = this.#open.findLastIndex((open) => open.passed.ended_at <= passed.ended_at) + 1
    this.#open.splice(behind, 0, { passed, windows })
  }

  #endUntil(time: number): void {
    for (let open = this.#open[0]; open !== undefined && open.passed.ended_at <= time; open = this.#open[0]) {
      this.#open.shift()
      const { project_id, agent_id, used, session_id, ended_at } = open.passed
      for (const window of open.windows)
        window.add(project_id, agent_id, { ...used, requests: 0, reserved: -used.reserved })
      for (const [, known] of this.#starts) known.ended(session_id, ended_at, used.failed > 0)
    }
  }

  #totals(period: Period, { project_id, agent_id, at }: Passed): Totals {
    const { scope, per } = period
    const window = this.#window(per, at)
    const { next, window: stretch } = window
    return {
      ...(window.of(scope, project_id, agent_id) ?? nothingUsed()),
      outcomes: [],
      probe_open: false,
      period: { scope, per, resets_at: stretch.end, next, named: agent_id !== null },
    }
  }

  #window(per: Per, at: number): WindowUse {
    const known = this.#windows.get(per)
    if (known?.holds(at) === true) return known
    const window = new WindowUse(per, this.#calendar.windowAt(per, at), this.#calendar)
    this.#windows.set(per, window)
    return window
  }
}

const nameOf = ({ scope, per }: Period): string => `${scope} ${per}`
