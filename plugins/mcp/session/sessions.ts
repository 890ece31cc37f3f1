import { type Gateway, GuardError } from 'guard-gateway/core'
import type { McpLimits } from '../options.ts'
import type { RunningSession, ServerContext } from './running-session.ts'
import type { SessionInfo } from './session.ts'

const SWEEP_MS = 30_000

/** The sessions of this process, by the proxy's own ids. */
export class Sessions {
  readonly #gateway: Gateway
  readonly #limits: McpLimits
  readonly #idleMs: number
  readonly #restMs: number
  readonly #running = new Map<string, RunningSession>()
  readonly #ending = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, limits: McpLimits, idle_seconds: number, rest_seconds: number) {
    this.#gateway = gateway
    this.#limits = limits
    this.#idleMs = idle_seconds * 1000
    this.#restMs = rest_seconds * 1000
  }

  get size(): number {
    return this.#running.size
  }

  /** Messages that were dropped in open sessions, by reason. */
  get dropped(): Readonly<Record<string, number>> {
    const sums = new Map<string, number>()
    for (const { session } of this.#running.values())
      for (const [reason, count] of session.dropCounts) sums.set(reason, (sums.get(reason) ?? 0) + count)
    return Object.fromEntries(sums)
  }

  [Symbol.iterator](): IterableIterator<RunningSession> {
    return this.#running.values()
  }

  /** Opens a session; an idle one is ended for it if there are too many. Throws OVERLOADED. */
  async open(context: ServerContext, about: SessionInfo): Promise<RunningSession> {
    const { RunningSession: Running } = await import('./running-session.ts')
    if (this.#running.size >= this.#limits.sessions) this.#makeRoom()
    const running = await Running.open(context, about, (one, reason) => this.end(one, reason))
    this.#running.set(running.session.id, running)
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref()
    return running
  }

  has(id: string): boolean {
    return this.#running.has(id)
  }

  /** The session of an id at this server; undefined for everybody but its owner. */
  find(id: string, owner: string, server_id: string): RunningSession | undefined {
    const running = this.#running.get(id)
    const { about, server, ended } = running?.session ?? {}
    return about?.owner === owner && server?.id === server_id && ended === false ? running : undefined
  }

  /** Ends a session without waiting for it. */
  end(running: RunningSession, reason: string): void {
    this.#running.delete(running.session.id)
    const ending = running.end(reason).finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  /** Ends sessions that are idle for too long. Child processes of idle sessions end much sooner; the next request starts them again. */
  sweep(): void {
    const now = this.#gateway.clock.tick()
    for (const running of this.#running.values()) {
      const { streams, clientRequests, used, link } = running.session
      if (streams > 0) continue
      if (now - used >= this.#idleMs) this.end(running, 'idle')
      else if (clientRequests.size === 0 && now - used >= this.#restMs) link.rest?.()
    }
  }

  /** Ends all sessions; resolves when they have ended. */
  async endAll(reason: string): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const running of [...this.#running.values()]) this.end(running, reason)
    await Promise.all(this.#ending)
  }

  #makeRoom(): void {
    let oldest: RunningSession | undefined
    for (const running of this.#running.values()) {
      const { streams, clientRequests, used } = running.session
      if (streams === 0 && clientRequests.size === 0 && used < (oldest?.session.used ?? Number.POSITIVE_INFINITY))
        oldest = running
    }
    if (oldest === undefined) {
      throw new GuardError('OVERLOADED', `As many MCP sessions are at work as may be: ${this.#limits.sessions}.`, {
        headers: { 'retry-after': '5' },
      })
    }
    this.end(oldest, 'too many sessions')
  }
}
