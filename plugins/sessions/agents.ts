import { type Call, type Change, type Gateway, GuardError } from 'guard-gateway/core'
import { auditedIn, everyProject, sees, visibleProjects } from '#lib/principal'
import { changedIn } from '#lib/session'
import { isPlayground } from '#lib/trace'
import { sessionErrors } from './error-codes.ts'
import { SecondChanceCache } from './second-chance-cache.ts'
import type { AgentRow, PausedIn } from './tables.ts'

const MAX_AGENTS = 10_000

/** The agents in use; each is one object, so that a pause holds at once. */
export class Agents {
  readonly #gateway: Gateway
  readonly #agents = new SecondChanceCache<AgentRow>(MAX_AGENTS)
  /** Agents and projects that are on record together. */
  readonly #pairs = new SecondChanceCache<true>(MAX_AGENTS)
  /** Ends when every pair noted so far is written. */
  #noted: Promise<unknown> = Promise.resolve()

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

  /** Notes that an agent works in a project; the write is not awaited. */
  worksIn(agent_id: string, project_id: string): void {
    const pair = `${agent_id}\0${project_id}`
    if (this.#pairs.get(pair) !== undefined) return
    this.#pairs.set(pair, true)
    const row = { agent_id, project_id, created_at: this.#gateway.clock.now() }
    this.#noted = this.#noted
      .then(() => this.#gateway.storage.put('agent_projects', row, 'absent'))
      .catch((error: unknown) => {
        this.#pairs.delete(pair)
        this.#gateway.fault(error, 'sessions:agent_project')
      })
  }

  /** Resolves when every pair noted so far is written. */
  async noted(): Promise<void> {
    await this.#noted
  }

  /** Pauses or un-pauses, for whoever sees some projects alone in these alone; durable when it resolves. */
  async setPaused(agent: AgentRow, paused: boolean): Promise<void> {
    const { storage, clock } = this.#gateway
    const projects = visibleProjects()
    const patchOf = (row: AgentRow): Pick<AgentRow, 'paused' | 'paused_in' | 'paused_at'> => {
      const paused_in = pausedAfter(row.paused_in, paused, projects)
      const isPaused = paused_in !== null
      return { paused: isPaused, paused_in, paused_at: isPaused ? (row.paused_at ?? clock.now()) : null }
    }
    const { id } = agent
    const entry = {
      action: paused ? 'agent.paused' : 'agent.resumed',
      subject: id,
      project_id: agent.project_id ?? (projects?.length === 1 ? projects[0] : null),
      ...(projects !== null && { details: { projects } }),
    }
    await writeThrough(agent, patchOf(agent), () =>
      everyProject(() =>
        storage.exclusive('agents', id, async (read) => {
          const row = await read.get('agents', id)
          if (row === undefined) throw new GuardError(sessionErrors.AGENT_NOT_FOUND)
          const patch = patchOf(row)
          Object.assign(agent, patch)
          const change: Change = { table: 'agents', key: id, patch, sync: true }
          return [
            undefined,
            [
              change,
              ...auditedIn(this.#gateway.service('audit').get(), entry),
              ...changedIn(this.#gateway.service('cluster').get()),
            ],
          ]
        }),
      ),
    )
  }

  /** A key of an agent opens every project in which it works. Throws AGENT_SHARED for whoever does not see them all. */
  async checkOwn({ id, project_id }: AgentRow): Promise<void> {
    const projects = visibleProjects()
    if (projects === null || sees(project_id)) return
    const { rows } = await everyProject(() =>
      this.#gateway.storage.find('agent_projects', { where: { agent_id: id }, limit: projects.length + 1 }),
    )
    if (rows.some((row) => !sees(row.project_id))) throw new GuardError(sessionErrors.AGENT_SHARED)
  }
}

/** Where an agent is paused once it is paused or resumed in these projects, or in all; null: nowhere. */
const pausedAfter = (before: PausedIn | null, paused: boolean, projects: readonly string[] | null): PausedIn | null => {
  if (projects === null) return paused ? { everywhere: true, projects: [] } : null
  const { everywhere, projects: named } = before ?? { everywhere: false, projects: [] }
  const others = named.filter((project) => !projects.includes(project))
  const after = everywhere === paused ? others : [...others, ...projects]
  return everywhere || after.length > 0 ? { everywhere, projects: after } : null
}

/** Nothing of the agent is forwarded in this project. */
export const isPausedIn = ({ paused_in }: AgentRow, project_id: string): boolean =>
  paused_in !== null && paused_in.everywhere !== paused_in.projects.includes(project_id)

/** The agent as whoever asks may see it: of the projects that they see. */
export const visibleAgent = (agent: AgentRow): AgentRow => {
  const projects = visibleProjects()
  if (projects === null) return agent
  const paused = projects.filter((project) => isPausedIn(agent, project))
  return paused.length === 0
    ? { ...agent, paused: false, paused_in: null, paused_at: null }
    : { ...agent, paused: true, paused_in: { everywhere: false, projects: paused } }
}

const blank = {
  name: null,
  project_id: null,
  metadata: {},
  playground: null,
  paused: false,
  paused_in: null,
  paused_at: null,
} as const

/** The change that registers an agent; the batch it is in is refused if the id is taken. */
export const registration = (agent: Pick<AgentRow, 'id' | 'created_at'> & Partial<AgentRow>): Change => ({
  table: 'agents',
  put: { ...blank, registered_by: 'api', ...agent },
  when: 'absent',
  sync: true,
})

/** Changes a row in memory at once, so that it holds for every request from now on; takes that back if it cannot be written. */
export const writeThrough = async <R extends object>(
  row: R,
  changes: Partial<R>,
  write: () => Promise<void>,
): Promise<void> => {
  const before = { ...row }
  Object.assign(row, changes)
  try {
    await write()
  } catch (error) {
    for (const name of Object.keys(changes) as (keyof R)[]) row[name] = before[name]
    throw error
  }
}
