import type { Call, Identity, Session } from 'guard-gateway/core'
import type { Agents } from './agents.ts'
import { badName, type Identifiers } from './identifiers.ts'
import type { LiveSessions } from './live.ts'
import type { Openings } from './openings.ts'
import type { Responses } from './responses.ts'
import { externalId } from './sources.ts'
import type { AgentRow } from './tables.ts'

const DEFAULT_PROJECT = 'default'

/** What finding a call's project, agent and session needs. */
export interface Finders {
  readonly ids: Identifiers
  readonly agents: Agents
  readonly live: LiveSessions
  readonly openings: Openings
  readonly responses: Responses
}

/** Fills in agent, project and session of a call, beginning what is not known yet; at once where all of it is in memory. Throws or rejects with INVALID_HEADER. */
export const resolver =
  ({ ids, agents, live, openings, responses }: Finders) =>
  (call: Call): void | Promise<void> => {
    const named = agentHeader(call.headers, call.identity, ids)
    if (named.ignored) call.notes.agent_header_ignored = true
    const project = projectHeader(call.headers, ids)
    const external = externalId({ headers: call.headers, hints: call.envelope.hints }, ids)
    const join = (session: Session): void => {
      session.row.last_seen_at = Math.max(session.row.last_seen_at, call.at)
      call.session = session
    }
    const find = (agent: AgentRow | undefined): void | Promise<void> => {
      call.agent_id = named.id
      call.project_id = project ?? agent?.project_id ?? DEFAULT_PROJECT
      const session = external === undefined ? unnamed() : live.named(external, beginning(call))
      return session instanceof Promise ? session.then(join) : join(session)
    }
    const unnamed = (): Session | Promise<Session> =>
      call.envelope.previous_response_id === null
        ? openings.session(call)
        : continued(call, live, responses).then((session) => session ?? openings.session(call))
    // from here on nothing refuses the call, so that a bad header registers no agent
    if (named.id === null) return find(undefined)
    const agent = agents.at(named.id)
    return agent === undefined ? agents.seen(named.id, call.at).then(find) : find(agent)
  }

const beginning = ({ project_id, agent_id, client, at }: Call) => ({ project_id, agent_id, client, at })

/** The session of the response that the call continues, if it is of the same project. */
const continued = async (call: Call, live: LiveSessions, responses: Responses): Promise<Session | undefined> => {
  const { previous_response_id } = call.envelope
  if (previous_response_id === null) return undefined
  const id = await responses.sessionOf(call.project_id, previous_response_id)
  const session = id === undefined ? undefined : await live.find(id)
  return session?.row.project_id === call.project_id ? session : undefined
}

/** Agent and session that headers and key name, as far as they are known already; nothing is begun. Throws INVALID_HEADER. */
export const knownBy = async (
  { ids, agents, live }: Pick<Finders, 'ids' | 'agents' | 'live'>,
  headers: Readonly<Record<string, string>>,
  identity: Identity,
): Promise<{ readonly agent: AgentRow | undefined; readonly session: Session | undefined }> => {
  const { id } = agentHeader(headers, identity, ids)
  const agent = id === null ? undefined : await agents.find(id)
  const project = projectHeader(headers, ids) ?? agent?.project_id ?? DEFAULT_PROJECT
  const external = externalId({ headers, hints: {} }, ids)
  const session = external === undefined ? undefined : await live.findNamed(project, external.external_id)
  return { agent, session }
}

/** The agent that a key stands for, else the one that the header names; a key is not overruled by a header. */
const agentHeader = (headers: Readonly<Record<string, string>>, identity: Identity, { isName }: Identifiers) => {
  const named = headers['x-guard-agent-id']
  if (identity.agent_id !== null)
    return { id: identity.agent_id, ignored: named !== undefined && named !== identity.agent_id }
  if (named !== undefined && !isName(named)) throw badName('x-guard-agent-id')
  return { id: named ?? null, ignored: false }
}

const projectHeader = (headers: Readonly<Record<string, string>>, { isName }: Identifiers): string | undefined => {
  const project = headers['x-guard-project-id']
  if (project !== undefined && !isName(project)) throw badName('x-guard-project-id')
  return project
}
