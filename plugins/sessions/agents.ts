import { type Call, type Change, type Gateway, GuardError } from 'guard-gateway/core'
import { auditedIn, everyProject, sees, visibleProjects } from 'guard-gateway/lib/principal'
import { changedIn } from 'guard-gateway/lib/session'
import { isPlayground } from 'guard-gateway/lib/trace'
import { sessionErrors } from './error-codes.ts'
import { SecondChanceCache } from './second-chance-cache.ts'
import type { AgentRow } from './tables.ts'
import { writeThrough } from './write-through.ts'

const MAX_AGENTS = 10_000
/** Sessions of an agent that are looked through for whose it is. */
const MAX_SESSIONS = 1_000

/** The agents in use; each is one object, so that a pause holds at once. */
export class Agents {
  readonly #gateway: Gateway
  readonly #agents = new SecondChanceCache<AgentRow>(MAX_AGENTS)

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  get size(): number {
    return this.#agents.size
  }

  /** The agent of this id, if it is in memory. */
  at(id: string): AgentRow | undefined {
    return this.#agents.get(id)
  }

  find(id: string): Promise<AgentRow | undefined> {
    return this.#agents.load(id, () => everyProject(() => this.#gateway.storage.get('agents', id)))
  }

  /** The agent of this id as it is now; it is not taken into memory, as sessions are not. */
  async row(id: string): Promise<AgentRow | undefined> {
    const isAlone = this.#gateway.service('cluster').get() === undefined && visibleProjects() === null
    const known = isAlone ? this.at(id) : undefined
    return known ?? (await this.#gateway.storage.get('agents', id))
  }

  /** Another process has changed an agent: all are read again. */
  forget(): void {
    this.#agents.clear()
  }

  /** The agent of this id; throws AGENT_NOT_FOUND. */
  async need(id: string): Promise<AgentRow> {
    const isHidden = visibleProjects() !== null && (await this.row(id)) === undefined
    const agent = isHidden ? undefined : await this.find(id)
    if (agent === undefined)
      throw new GuardError(sessionErrors.AGENT_NOT_FOUND, `There is no agent "${id}". List them with GET /api/agents.`)
    return agent
  }

  /** The agent that a request names; an unknown one is registered, so that it can be paused. */
  async seen(id: string, { at, upstream }: Pick<Call, 'at' | 'upstream'>): Promise<AgentRow> {
    const known = await this.find(id)
    if (known !== undefined) return known
    const row: AgentRow = {
      ...blank,
      id,
      registered_by: 'request',
      created_at: at,
      playground: isPlayground({ upstream }) || null,
    }
    await this.#gateway.storage.put('agents', row, 'absent')
    return (await this.find(id)) ?? this.#agents.set(id, row)
  }

  /** Pauses or un-pauses; durable when it resolves. */
  async setPaused(agent: AgentRow, paused: boolean): Promise<void> {
    if (!sees(agent.project_id)) await this.#checkOwn(agent.id)
    const paused_at = paused ? (agent.paused_at ?? this.#gateway.clock.now()) : null
    const patch = { paused, paused_at }
    const change: Change = { table: 'agents', key: agent.id, patch, sync: true }
    const { id, project_id } = agent
    const entry = { action: paused ? 'agent.paused' : 'agent.resumed', subject: id, project_id }
    const batch = [
      change,
      ...auditedIn(this.#gateway.service('audit').get(), entry),
      ...changedIn(this.#gateway.service('cluster').get()),
    ]
    await writeThrough(agent, patch, async () => {
      if (!(await this.#gateway.storage.write(batch))) throw new GuardError(sessionErrors.AGENT_NOT_FOUND)
    })
  }

  /** An agent of no project is everybody's who works with it. Throws AGENT_SHARED. */
  async #checkOwn(agent_id: string): Promise<void> {
    const { storage } = this.#gateway
    const { rows, next_cursor } = await everyProject(() =>
      storage.find('sessions', { where: { agent_id }, limit: MAX_SESSIONS }),
    )
    if (next_cursor !== null || rows.some(({ project_id }) => !sees(project_id)))
      throw new GuardError(sessionErrors.AGENT_SHARED)
  }
}

const blank = { name: null, project_id: null, metadata: {}, playground: null, paused: false, paused_at: null } as const

/** The change that registers an agent; the batch it is in is refused if the id is taken. */
export const registration = (agent: Pick<AgentRow, 'id' | 'created_at'> & Partial<AgentRow>): Change => ({
  table: 'agents',
  put: { ...blank, registered_by: 'api', ...agent },
  when: 'absent',
  sync: true,
})
