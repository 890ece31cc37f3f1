import { type Gateway, GuardError } from 'guard-gateway/core'
import type { McpLimits } from './options.ts'
import { type Ground, Seat } from './seat.ts'
import type { SessionAbout } from './session.ts'

const SWEEP_MS = 30_000

/** The sessions of this process, by the proxy's own ids. */
export class Sessions {
  readonly #gateway: Gateway
  readonly #limits: McpLimits
  readonly #idleMs: number
  readonly #seats = new Map<string, Seat>()
  readonly #ending = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, limits: McpLimits, idle_seconds: number) {
    this.#gateway = gateway
    this.#limits = limits
    this.#idleMs = idle_seconds * 1000
  }

  get size(): number {
    return this.#seats.size
  }

  /** Messages that were dropped in open sessions, by reason. */
  get dropped(): Readonly<Record<string, number>> {
    const sums = new Map<string, number>()
    for (const { session } of this.#seats.values())
      for (const [reason, count] of session.dropCounts) sums.set(reason, (sums.get(reason) ?? 0) + count)
    return Object.fromEntries(sums)
  }

  [Symbol.iterator](): IterableIterator<Seat> {
    return this.#seats.values()
  }

  /** Opens a session; an idle one is ended for it if there are too many. Throws OVERLOADED. */
  async open(ground: Ground, about: SessionAbout): Promise<Seat> {
    if (this.#seats.size >= this.#limits.sessions) this.#makeRoom()
    const seat = await Seat.open(ground, about, (one, reason) => this.end(one, reason))
    this.#seats.set(seat.session.id, seat)
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref()
    return seat
  }

  /** The session of an id, for whoever opened it at this server; undefined for everybody else. */
  find(id: string, owner: string, server_id: string): Seat | undefined {
    const seat = this.#seats.get(id)
    const { about, server, ended } = seat?.session ?? {}
    return about?.owner === owner && server?.id === server_id && ended === false ? seat : undefined
  }

  /** Ends a session; nobody waits for it. */
  end(seat: Seat, reason: string): void {
    this.#seats.delete(seat.session.id)
    const ending = seat.end(reason).finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  /** Ends sessions that nobody has used for long. */
  sweep(): void {
    const now = this.#gateway.clock.tick()
    for (const seat of this.#seats.values())
      if (seat.session.streams === 0 && now - seat.session.used >= this.#idleMs) this.end(seat, 'idle')
  }

  /** Ends all sessions and waits for it. */
  async endAll(reason: string): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const seat of [...this.#seats.values()]) this.end(seat, reason)
    await Promise.all(this.#ending)
  }

  #makeRoom(): void {
    let oldest: Seat | undefined
    for (const seat of this.#seats.values()) {
      const { streams, calls, used } = seat.session
      if (streams === 0 && calls.size === 0 && used < (oldest?.session.used ?? Number.POSITIVE_INFINITY)) oldest = seat
    }
    if (oldest === undefined) {
      throw new GuardError('OVERLOADED', `As many MCP sessions are at work as may be: ${this.#limits.sessions}.`, {
        headers: { 'retry-after': '5' },
      })
    }
    this.end(oldest, 'too many sessions')
  }
}
