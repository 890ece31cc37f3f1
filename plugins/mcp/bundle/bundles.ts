import { GuardError } from 'guard-gateway/core'
import type { Mcp } from '../mcp.ts'
import type { Door } from '../session/client-session.ts'
import type { SessionInfo } from '../session/session.ts'
import { Bundle } from './bundle.ts'
import { BundleSession } from './bundle-session.ts'

/** The bundle of all configured servers, which is there without a word in the configuration. */
export const ALL = 'all'
const SWEEP_MS = 5_000

/** The bundles of a gateway, and the sessions of their clients. */
export class Bundles implements Iterable<Bundle> {
  readonly #mcp: Mcp
  readonly #bundles = new Map<string, Bundle>()
  readonly #sessions = new Map<string, BundleSession>()
  #timer: NodeJS.Timeout | undefined

  /** Throws INVALID_CONFIG for a bundle of servers that there are not. */
  constructor(mcp: Mcp) {
    this.#mcp = mcp
    const { bundles = {} } = mcp.options
    for (const [id, options] of Object.entries({ [ALL]: {}, ...bundles })) {
      if (mcp.configuredIds().includes(id) && Object.hasOwn(bundles, id))
        throw new GuardError(
          'INVALID_CONFIG',
          `An MCP server and a bundle are both called "${id}". Rename one of them.`,
        )
      const bundle = new Bundle(mcp, id, options)
      const unknown = bundle.server_ids.find((server_id) => mcp.serverState(server_id) === undefined)
      if (unknown !== undefined)
        throw new GuardError(
          'INVALID_CONFIG',
          `The bundle "${id}" names the MCP server "${unknown}", which is none of mcp.servers.`,
        )
      this.#bundles.set(id, bundle)
    }
  }

  [Symbol.iterator](): IterableIterator<Bundle> {
    return this.#bundles.values()
  }

  /** Those with servers in them. */
  get ids(): readonly string[] {
    return [...this.#bundles.values()].filter(({ server_ids }) => server_ids.length > 0).map(({ id }) => id)
  }

  get health(): { readonly bundle_sessions: number; readonly missing: readonly string[] } {
    const sessions = [...this.#sessions.values()]
    const missing = sessions.flatMap(({ members }) =>
      members.filter((one) => one.missing !== undefined).map(({ id }) => id),
    )
    return { bundle_sessions: sessions.length, missing: [...new Set(missing)] }
  }

  get sessions(): Iterable<BundleSession> {
    return this.#sessions.values()
  }

  sessionsOf(bundle: Bundle): readonly BundleSession[] {
    return [...this.#sessions.values()].filter((session) => session.bundle === bundle)
  }

  /** Undefined if there is no such bundle, or nothing in it. */
  door(id: string): Door<BundleSession> | undefined {
    const bundle = this.#bundles.get(id)
    if (bundle === undefined || bundle.server_ids.length === 0) return undefined
    return {
      id,
      open: async (about) => this.#open(bundle, about),
      find: (session_id, owner) => {
        const session = this.#sessions.get(session_id)
        return session?.owner === owner && session.bundle === bundle && !session.ended ? session : undefined
      },
      end: (session, reason) => this.#end(session, reason),
    }
  }

  #open(bundle: Bundle, about: SessionInfo): BundleSession {
    const { sessions: limit } = this.#mcp.limits
    if (this.#sessions.size >= limit) this.#makeRoom(limit)
    const session = new BundleSession(this.#mcp, bundle, about)
    this.#sessions.set(session.id, session)
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref()
    return session
  }

  #makeRoom(limit: number): void {
    let oldest: BundleSession | undefined
    for (const session of this.#sessions.values())
      if (!session.isBusy && session.used < (oldest?.used ?? Number.POSITIVE_INFINITY)) oldest = session
    if (oldest === undefined)
      throw new GuardError('OVERLOADED', `As many MCP sessions are at work as may be: ${limit}.`, {
        headers: { 'retry-after': '5' },
      })
    this.#end(oldest, 'too many sessions')
  }

  #end(session: BundleSession, reason: string): void {
    this.#sessions.delete(session.id)
    session.end(reason)
  }

  /** Ends sessions that are idle for too long, and looks for servers that are not there. */
  sweep(): void {
    const now = this.#mcp.gateway.clock.tick()
    for (const session of this.#sessions.values()) {
      if (session.ended) this.#sessions.delete(session.id)
      else if (session.streams === 0 && now - session.used >= this.#mcp.idle_ms) this.#end(session, 'idle')
      else session.retry()
    }
  }

  endAll(reason: string): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const session of [...this.#sessions.values()]) this.#end(session, reason)
  }
}
