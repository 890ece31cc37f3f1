import type { Call, Per, Period, Reader, Start, Totals, Turn } from 'guard-gateway/core'
import { pages } from '#lib/paging'
import { requestsIn } from '#lib/session'
import type { Calendar } from '#lib/time'
import { type CallRecord, newTurnsOf } from '#lib/trace'
import { WindowUse } from '../budgets/window-use.ts'
import { reservedFor } from '../evaluate/decide.ts'
import type { EvidenceSources, Spender } from '../evaluate/evidence-sources.ts'
import { hasFailed, isUnpriced } from '../history/settle.ts'
import { noUsage, type Usage } from '../history/usage.ts'
import type { Policy } from '../policy.ts'
import { recordedRequest } from '../starts/known-starts.ts'
import { type StartRequest, Starts } from '../starts/starts.ts'
import type { Projects } from './projects.ts'

/** The newest requests that are replayed. */
const MAX_REQUESTS = 100_000

/** Evidence from beyond each session, by request. */
export interface ProjectEvidence extends EvidenceSources {
  /** The request is among the replayed ones. */
  knows(id: string): boolean
}

/** The part of a recorded request that is kept in memory for all of them. */
interface ReplayedRequest extends Omit<StartRequest, 'print'> {
  readonly prints: readonly string[]
  readonly ended_at: number
  readonly isForwarded: boolean
  readonly retry: boolean
  readonly turns: readonly Turn[]
  readonly used: Usage
}

/**
 * Replays the newest requests of some projects in the order of their arrival and end. Notes for each the usage of its agent and project at that
 * time, and the starts before it. Undefined if no rule needs evidence from beyond a session.
 */
export const replayProjects = async (
  storage: Reader,
  calendar: Calendar,
  policy: Policy,
  { where: named, has }: Projects,
  until: number | undefined,
): Promise<ProjectEvidence | undefined> => {
  if (policy.pers.length + policy.comparing.length === 0) return undefined
  const request: ReplayedRequest[] = []
  const where = { ...named, received_at: until === undefined ? {} : { lt: until + 1 } }
  for await (const page of pages(storage, 'calls', { where, order: ['received_at', 'desc'] })) {
    for (const record of page.filter(has)) request.push(replayedRequest(record, policy.comparing))
    if (request.length >= MAX_REQUESTS) break
  }
  const replay = new EvidenceReplay(calendar, policy)
  for (const one of request.toReversed()) replay.add(one)
  return replay
}

const replayedRequest = (record: CallRecord, comparing: readonly string[]): ReplayedRequest => ({
  ...recordedRequest(record, record.session_id ?? '', ''),
  prints: comparing.map((id) => recordedRequest(record, '', id).print),
  ended_at: record.ended_at,
  isForwarded: record.decision !== 'block',
  retry: record.retry,
  turns: comparing.length === 0 ? [] : newTurnsOf(record),
  used: {
    requests: requestsIn(record),
    failed: hasFailed(record) ? 1 : 0,
    unpriced: isUnpriced(record.total_tokens, record.cost_source) ? 1 : 0,
    tokens: record.total_tokens,
    cache_read_tokens: record.cache_read_tokens,
    cost_micro: record.cost_micro ?? 0,
    reserved: reservedFor(record.bytes_in, record.max_tokens),
  },
})

interface RequestEvidence {
  readonly used: ReadonlyMap<string, Totals>
  readonly starts: ReadonlyMap<string, readonly Start[]>
}

interface Open {
  readonly request: ReplayedRequest
  readonly windows: readonly WindowUse[]
}

class EvidenceReplay implements ProjectEvidence {
  readonly #calendar: Calendar
  readonly #periods: readonly Period[]
  readonly #evidence = new Map<string, RequestEvidence>()
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
    return this.#evidence.has(id)
  }

  totals(period: Period, { id = '' }: Spender): Totals {
    return this.#evidence.get(id)?.used.get(nameOf(period)) ?? { ...noUsage(), outcomes: [], probe_open: false }
  }

  starts(detector: string, { id }: Call): readonly Start[] | undefined {
    return this.#evidence.get(id)?.starts.get(detector)
  }

  /** Adds the next request in order of arrival. */
  add(request: ReplayedRequest): void {
    this.#endUntil(request.at)
    const windows = [...new Set(this.#periods.map(({ per }) => this.#window(per, request.at)))]
    const used = new Map(this.#periods.map((period) => [nameOf(period), this.#totals(period, request)]))
    const starts = new Map<string, readonly Start[]>()
    for (const [index, [id, known]] of this.#starts.entries()) {
      const before = known.before({ ...request, print: request.prints[index] ?? '' })
      // what they are known to be now, not what becomes of them
      if (before !== undefined)
        starts.set(
          id,
          before.map((start) => ({ ...start })),
        )
    }
    this.#evidence.set(request.id, { used, starts })
    if (request.isForwarded) this.#begin(request, windows)
  }

  #begin(request: ReplayedRequest, windows: readonly WindowUse[]): void {
    const { project_id, agent_id, used, retry, turns } = request
    for (const window of windows) window.add(project_id, agent_id, { requests: used.requests, reserved: used.reserved })
    for (const [index, [, known]] of this.#starts.entries())
      known.forwarded({ ...request, print: request.prints[index] ?? '' }, { retry, new_turns: turns })
    const behind = this.#open.findLastIndex((open) => open.request.ended_at <= request.ended_at) + 1
    this.#open.splice(behind, 0, { request, windows })
  }

  #endUntil(time: number): void {
    for (let open = this.#open[0]; open !== undefined && open.request.ended_at <= time; open = this.#open[0]) {
      this.#open.shift()
      const { project_id, agent_id, used, session_id, ended_at } = open.request
      for (const window of open.windows)
        window.add(project_id, agent_id, { ...used, requests: 0, reserved: -used.reserved })
      for (const [, known] of this.#starts) known.ended(session_id, ended_at, used.failed > 0)
    }
  }

  #totals(period: Period, { project_id, agent_id, at }: ReplayedRequest): Totals {
    const { scope, per } = period
    const window = this.#window(per, at)
    const { next, window: stretch } = window
    return {
      ...(window.of(scope, project_id, agent_id) ?? noUsage()),
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
