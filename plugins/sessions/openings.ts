import { type Call, derivedId, type Gateway, newId, type Session } from 'guard-gateway/core'
import type { LiveSessions } from './live.ts'
import { Recent } from './recent.ts'

const MAX_OPENINGS = 10_000

/** Sessions of clients that name none: known by who asks and how the conversation begins, until they fall idle. */
export class Openings {
  readonly #gateway: Gateway
  readonly #live: LiveSessions
  readonly #idleMs: number
  /** The session that each opening leads to now; an empty id: none yet. */
  readonly #current = new Recent<{ id: string }>(MAX_OPENINGS)

  constructor(gateway: Gateway, live: LiveSessions, idleMs: number) {
    this.#gateway = gateway
    this.#live = live
    this.#idleMs = idleMs
  }

  /** The session that the call goes on with, or a new one. Project and agent of the call must be known. */
  async session(call: Call): Promise<Session> {
    const external_id = openingId(call)
    const current = await this.#current.obtain(
      external_id,
      () => this.#stored(call.project_id, external_id),
      () => ({ id: '' }),
    )
    for (;;) {
      const { id } = current
      const session = id === '' ? undefined : await this.#live.find(id)
      // another request may have begun the next session meanwhile
      if (current.id !== id) continue
      if (session !== undefined && !this.#isOver(session, call.at)) return session
      current.id = newId('ses_', call.at)
      const { project_id, agent_id, client, at } = call
      return this.#live.begin(current.id, { project_id, agent_id, external_id, external_source: 'derived', client, at })
    }
  }

  /** Idle for so long that the next request begins a new session; waiting does not lead out of a pause. */
  #isOver({ row, open }: Session, now: number): boolean {
    return open === 0 && !row.paused && now - row.last_seen_at >= this.#idleMs
  }

  async #stored(project_id: string, external_id: string): Promise<{ id: string } | undefined> {
    const { rows } = await this.#gateway.storage.find('sessions', { where: { project_id, external_id }, limit: 1 })
    const [row] = rows
    return row === undefined ? undefined : { id: row.id }
  }
}

/** What stands for an external id: the same project, agent or program, API style and beginning give the same one. */
const openingId = ({ project_id, agent_id, client, style, conversation }: Call): string => {
  const who = agent_id === null ? ['client', product(client)] : ['agent', agent_id]
  return derivedId('opening:', project_id, ...who, style, conversation.opening)
}

/** The program's name in a user agent. */
const product = (client: string): string => client.split(/[/\s]/, 1)[0] ?? ''
