/** A rule's limit as one call meets it. */
export interface LimitUse {
  readonly rule_id: string
  readonly kind: 'session' | 'server' | 'tool' | 'agent' | 'project' | 'client' | 'key'
  /** What shares the limit: the id of the session, of the server, server and tool, or a name of the caller. */
  readonly key: string
  readonly calls: number
  readonly per_ms: number
}

/** A limit that leaves no room, and for how many milliseconds. */
export interface Exceeded {
  readonly use: LimitUse
  readonly wait_ms: number
}

/** Counts calls that are forwarded, when they are. */
export interface Limits {
  /** Those that have no room now; counts nothing. */
  exceeded(uses: readonly LimitUse[]): Promise<readonly Exceeded[]>
  /** Counts one call against all of them, or against none if one has no room; gives that one. */
  take(uses: readonly LimitUse[]): Promise<Exceeded | undefined>
  /** Forgets what was counted for a session. */
  endSession(session_id: string): void
}

/** The times that still count, oldest first. Any window of `per_ms` holds at most `calls` of them. What lies more than that ahead was counted before the clock was set back. */
export const within = (times: readonly number[], { per_ms }: LimitUse, at: number): readonly number[] => {
  const first = countUpTo(times, at - per_ms)
  const end = countUpTo(times, at + per_ms)
  return first === 0 && end === times.length ? times : times.slice(first, end)
}

/** How many of the times, oldest first, are not after `last`; found by halves, since a limit may count thousands. */
const countUpTo = (times: readonly number[], last: number): number => {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? last) > last) high = middle
    else low = middle + 1
  }
  return low
}

/** The times with one more. A clock that was set back must not disturb their order. */
export const withCall = (times: readonly number[], at: number): readonly number[] => [
  ...times,
  Math.max(at, times.at(-1) ?? at),
]

/** Milliseconds until a call fits; 0 if it fits now. `times` are those that still count. */
export const waitFor = (times: readonly number[], { calls, per_ms }: LimitUse, at: number): number => {
  const blocking = times.at(-calls)
  return times.length < calls || blocking === undefined ? 0 : Math.max(1, blocking + per_ms - at)
}

/** Limits of one process: those of sessions, and all of them where no call is really forwarded. */
export class MemoryLimits implements Limits {
  readonly #times = new Map<string, Map<string, readonly number[]>>()
  readonly #now: () => number

  /** `now`: milliseconds, of a monotonic clock where there is one. */
  constructor(now: () => number) {
    this.#now = now
  }

  async exceeded(uses: readonly LimitUse[]): Promise<readonly Exceeded[]> {
    return this.#full(uses, this.#now())
  }

  /** Looks and counts in one step, so that no other call comes in between. */
  async take(uses: readonly LimitUse[]): Promise<Exceeded | undefined> {
    const at = this.#now()
    const [first] = this.#full(uses, at)
    if (first !== undefined) return first
    for (const use of uses) this.#write(use, withCall(this.#read(use, at), at))
    return undefined
  }

  endSession(session_id: string): void {
    this.#times.delete(`session ${session_id}`)
  }

  #full(uses: readonly LimitUse[], at: number): readonly Exceeded[] {
    return uses
      .map((use) => ({ use, wait_ms: waitFor(this.#read(use, at), use, at) }))
      .filter(({ wait_ms }) => wait_ms > 0)
  }

  #read(use: LimitUse, at: number): readonly number[] {
    return within(this.#times.get(`${use.kind} ${use.key}`)?.get(use.rule_id) ?? [], use, at)
  }

  #write(use: LimitUse, times: readonly number[]): void {
    const name = `${use.kind} ${use.key}`
    const rules = this.#times.get(name) ?? new Map<string, readonly number[]>()
    rules.set(use.rule_id, times)
    this.#times.set(name, rules)
  }
}
