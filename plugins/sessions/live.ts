import type { Call, Gateway, Session, SessionRow } from 'guard-gateway/core'
import { derivedId } from '#lib/ids'
import { MemoryBudget, type MemoryPart } from '#lib/memory-budget'
import { everyProject, sees } from '#lib/principal'
import { newSessionRow, type SessionStart } from '#lib/session'
import { isPlayground } from '#lib/trace'
import { SecondChanceCache } from './second-chance-cache.ts'
import type { ExternalId } from './sources.ts'

const MAX_SESSIONS = 10_000
/** A session in memory, about, with its id. */
const SESSION_BYTES = 2_500
const RECENT_MS = 60_000
/** Ids of this form that a client chooses serve as they are. */
const GENERATED_ID = /^ses_[A-Za-z0-9_-]{1,120}$/

/** Columns of a search for sessions. */
export type SessionOrigin = Partial<
  Pick<SessionRow, 'project_id' | 'paused' | 'playground'> &
    Record<'agent_id' | 'external_id' | 'flagged_rule_id', string>
>

/** The input of a new session besides its name, for example a call. */
type NewSession = Omit<SessionStart, keyof ExternalId | 'playground'> & Partial<Pick<Call, 'upstream'>>

interface Candidate {
  readonly project: string
  readonly id: string
}

/** The sessions in use. Each exists once in the process, so that all changes apply to one object. */
export class LiveSessions {
  readonly #gateway: Gateway
  readonly #sessions = new SecondChanceCache<Session>(MAX_SESSIONS, (session) => session.open > 0)

  /** First candidates by external id, each for the project that used it last. */
  readonly #ids = new SecondChanceCache<Candidate>(MAX_SESSIONS)

  readonly #memory: MemoryPart

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    const budget = gateway.service('memory_budget').getOrProvide(() => new MemoryBudget())
    this.#memory = budget.part({ name: 'sessions', shrink: (bytes) => this.#shrink(bytes) })
  }

  /** Those stay that could not be loaded again, and those that a call may have found which is not counted yet. */
  #shrink(bytes: number): void {
    const size = Math.floor(bytes / SESSION_BYTES)
    const from = this.#gateway.clock.now() - RECENT_MS
    this.#sessions.shrink(size, ({ stored, row }) => stored !== true || row.last_seen_at >= from)
    this.#ids.shrink(size, () => false)
    this.#hold()
  }

  #hold(): void {
    this.#memory.hold(this.#sessions.size * SESSION_BYTES)
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Sessions in memory with a request in flight or one since `from`, milliseconds since 1970. */
  lately(from: number): readonly Session[] {
    return [...this.#sessions.values()].filter(
      ({ open, row }) => (open > 0 || row.last_seen_at >= from) && sees(row.project_id),
    )
  }

  /** The session of this id, if it is in memory. */
  at(id: string): Session | undefined {
    return this.#sessions.get(id)
  }

  /** The session of this id, from memory or storage; undefined if there is none. */
  async find(id: string): Promise<Session | undefined> {
    const session = await this.#sessions.load(id, () => this.#read(id))
    return session !== undefined && sees(session.row.project_id) ? session : undefined
  }

  /** Sessions with these columns that are in memory only, newest first: their first requests are in flight. */
  begun(where: SessionOrigin): readonly SessionRow[] {
    return this.known(where).flatMap(({ row, stored }) => (stored === true ? [] : [row]))
  }

  /** Sessions in memory with these columns, newest first. Their rows may not be stored yet. */
  known(where: SessionOrigin): readonly Session[] {
    const columns = Object.entries(where) as [keyof SessionOrigin, unknown][]
    return [...this.#sessions.values()]
      .filter(({ row }) => columns.every(([column, value]) => row[column] === value) && sees(row.project_id))
      .reverse()
  }

  /** A session that did not exist before; it is in memory only, until its first request or change is written. */
  begin(id: string, beginning: SessionStart): Session {
    return this.#sessions.set(id, { row: this.#newRow(id, beginning, beginning), open: 0 })
  }

  /**
   * The session that a project knows by an external id, started if there is none.
   * Projects never share one: an id that another project holds is passed over for the next one derived from both names.
   */
  named(named: ExternalId, beginning: NewSession): Session | Promise<Session> {
    const known = this.#sessions.get(this.#candidate(beginning.project_id, named.external_id, 0))
    if (known?.row.project_id !== beginning.project_id) return this.#obtained(named, beginning)
    this.#hold()
    return known
  }

  async #obtained(named: ExternalId, beginning: NewSession): Promise<Session> {
    for (let turn = 0; ; turn++) {
      const id = this.#candidate(beginning.project_id, named.external_id, turn)
      const session = await this.#sessions.obtain(
        id,
        () => this.#read(id),
        () => ({ row: this.#newRow(id, named, beginning), open: 0 }),
      )
      this.#hold()
      if (session.row.project_id === beginning.project_id) return session
    }
  }

  /** The session of this id as it is on record, if other processes share it; undefined if this one is alone. */
  async #shared(id: string): Promise<SessionRow | undefined> {
    return this.#gateway.service('cluster').get() === undefined ? undefined : this.#gateway.storage.get('sessions', id)
  }

  /** The session that `named` gives, if there is one, as it is now. It is not cached: another process may be the gateway, whose changes would be missed. */
  async rowNamed(project: string, externalId: string): Promise<SessionRow | undefined> {
    for (let turn = 0; ; turn++) {
      const id = candidate(project, externalId, turn)
      const row = (await this.#shared(id)) ?? this.at(id)?.row ?? (await this.#gateway.storage.get('sessions', id))
      if (row === undefined || row.project_id === project) return row
    }
  }

  /** A hash of every request's session would cost more than remembering the first candidates. */
  #candidate(project: string, externalId: string, turn: number): string {
    if (turn > 0) return candidate(project, externalId, turn)
    const known = this.#ids.get(externalId)
    if (known?.project === project) return known.id
    return this.#ids.set(externalId, { project, id: candidate(project, externalId, 0) }).id
  }

  async #read(id: string): Promise<Session | undefined> {
    const row = await everyProject(() => this.#gateway.storage.get('sessions', id))
    return row === undefined ? undefined : { row, open: 0, stored: true }
  }

  #newRow(
    id: string,
    { external_id, external_source }: Pick<SessionStart, keyof ExternalId>,
    { project_id, agent_id, client, at, upstream }: NewSession,
  ): SessionRow {
    const redactedClient = this.#gateway.redact.text(client)
    const playground = isPlayground({ upstream })
    return newSessionRow(id, {
      project_id,
      agent_id,
      external_id,
      external_source,
      client: redactedClient,
      at,
      playground,
    })
  }
}

/** The id under which a project's session is unless another project holds it, then the next one. */
const candidate = (project: string, externalId: string, turn: number): string => {
  const salt = GENERATED_ID.test(externalId) ? turn - 1 : turn
  if (salt < 0) return externalId
  return salt === 0 ? derivedId('ses_', project, externalId) : derivedId('ses_', project, externalId, String(salt))
}
