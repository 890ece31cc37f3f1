import type { Call, Gateway, Session } from 'guard-gateway/core'
import { derivedId, newId } from '#lib/ids'
import type { LiveSessions } from './live.ts'
import { SecondChanceCache } from './second-chance-cache.ts'

const MAX_OPENINGS = 10_000

/** Sessions of clients that name none: recognised by caller and opening of the conversation, until they are idle. */
export class Openings {
  readonly #gateway: Gateway
  readonly #live: LiveSessions
  readonly #idleMs: number
  /** The session that each opening leads to now; an empty id: none yet. */
  readonly #current = new SecondChanceCache<{ id: string }>(MAX_OPENINGS)

  constructor(gateway: Gateway, live: LiveSessions, idleMs: number) {
    this.#gateway = gateway
    this.#live = live
    this.#idleMs = idleMs
  }

  /** The session that the call continues with, or a new one. Project and agent of the call must be known. */
  session(call: Call): Session | Promise<Session> {
    const opening = openingParts(call).join('\0')
    const current = this.#current.get(opening)
    const session = current === undefined ? undefined : this.#live.at(current.id)
    return session === undefined || this.#isOver(session, call) ? this.#next(call, opening) : session
  }

  async #next(call: Call, opening: string): Promise<Session> {
    const current = this.#current.get(opening) ?? (await this.#begun(call, opening))
    for (;;) {
      const { id } = current
      const session = id === '' ? undefined : (this.#live.at(id) ?? (await this.#live.find(id)))
      const next = await this.#following(call, session, id)
      // another request may have started the next session meanwhile
      if (current.id !== id) continue
      if (session !== undefined && !this.#isOver(session, call)) return session
      current.id = next.id
      if (!next.isBegun) return this.#begin(next.id, call)
    }
  }

  #begin(id: string, call: Call): Session {
    const { project_id, agent_id, client, at } = call
    const external_id = openingId(call)
    return this.#live.begin(id, { project_id, agent_id, external_id, external_source: 'derived', client, at })
  }

  /** The session after that of `id`, should it be over. Processes that share sessions all give it the same id, and one may have begun it. */
  async #following(call: Call, session: Session | undefined, id: string): Promise<{ id: string; isBegun: boolean }> {
    const claims = this.#gateway.service('claims').get()
    if (claims === undefined) return { id: newId('ses_', call.at), isBegun: false }
    if (session !== undefined) await claims.refresh(session)
    const next = derivedId('ses_', openingId(call), id)
    return { id: next, isBegun: (await this.#live.find(next)) !== undefined }
  }

  /** Where an opening leads that nothing in memory knows. */
  #begun(call: Call, opening: string): Promise<{ id: string }> {
    return this.#current.obtain(
      opening,
      () => this.#stored(call.project_id, openingId(call)),
      () => ({ id: '' }),
    )
  }

  /**
   * Idle for so long that the next request starts a new session, or as far ahead of a clock that was set back; waiting does not lead out of a
   * pause. Of a session that was ended, a conversation that starts over is not part.
   */
  #isOver({ row, open }: Session, { at: now, conversation }: Call): boolean {
    if ((row.ended_at ?? null) !== null && conversation.turns.length === 0) return true
    return open === 0 && !row.paused && Math.abs(now - row.last_seen_at) >= this.#idleMs
  }

  async #stored(project_id: string, external_id: string): Promise<{ id: string } | undefined> {
    const { rows } = await this.#gateway.storage.find('sessions', { where: { project_id, external_id }, limit: 1 })
    const [row] = rows
    return row === undefined ? undefined : { id: row.id }
  }
}

/** What an opening is known by: the same project, agent or program, API style and beginning. */
const openingParts = ({ project_id, agent_id, client, style, conversation }: Call): readonly string[] =>
  agent_id === null
    ? [project_id, 'client', product(client), style, conversation.opening]
    : [project_id, 'agent', agent_id, style, conversation.opening]

/** What stands for an external id. */
const openingId = (call: Call): string => derivedId('opening:', ...openingParts(call))

/** The program's name in a user agent. */
const product = (client: string): string => client.split(/[/\s]/, 1)[0] ?? ''
