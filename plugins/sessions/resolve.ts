import type { Call, Caller, Identity, Session } from 'guard-gateway/core'
import { DEFAULT_PROJECT } from '#lib/session'
import type { Agents } from './agents.ts'
import { badName, type Identifiers } from './identifiers.ts'
import type { LiveSessions } from './live.ts'
import type { Openings } from './openings.ts'
import type { Responses } from './responses.ts'
import { type ExternalId, externalId } from './sources.ts'

/** What finding a call's project, agent and session needs. */
export interface Finders {
  readonly ids: Identifiers
  readonly agents: Agents
  readonly live: LiveSessions
  readonly openings: Openings
  readonly responses: Responses
}

/** Fills in agent, project and session of a call, beginning what is not known yet; at once where all of it is in memory. Throws or rejects with INVALID_HEADER. */
export const resolver = (finders: Finders): ((call: Call) => void | Promise<void>) => {
  const { ids, agents } = finders

  const enter = (
    call: Call,
    agent_id: string | null,
    project_id: string,
    named: ExternalId | undefined,
  ): void | Promise<void> => {
    call.agent_id = agent_id
    call.project_id = project_id
    if (agent_id !== null) agents.worksIn(agent_id, project_id)
    const session = named === undefined ? unnamed(call, finders) : finders.live.named(named, call)
    return session instanceof Promise ? session.then((found) => join(call, found)) : join(call, session)
  }

  return (call) => {
    const { headers, identity } = call
    const agent_id = agentOf(headers, identity, ids)
    if (isOverruled(headers, identity, ids)) call.notes.agent_header_ignored = true
    const project = projectHeader(headers, ids)
    const named = externalId(headers, call.envelope.hints, ids, call.transport)
    // from here on nothing refuses the call, so that a bad header registers no agent
    if (agent_id === null) return enter(call, null, project ?? DEFAULT_PROJECT, named)
    const agent = agents.at(agent_id)
    if (agent !== undefined) return enter(call, agent_id, project ?? agent.project_id ?? DEFAULT_PROJECT, named)
    return agents
      .seen(agent_id, call)
      .then((seen) => enter(call, agent_id, project ?? seen.project_id ?? DEFAULT_PROJECT, named))
  }
}

const join = (call: Call, session: Session): void => {
  if (session.row.last_seen_at < call.at) session.row.last_seen_at = call.at
  call.session = session
}

const unnamed = (call: Call, { live, openings, responses }: Finders): Session | Promise<Session> =>
  call.envelope.previous_response_id === null
    ? openings.session(call)
    : continued(call, live, responses).then((session) => session ?? openings.session(call))

/** The session of the response that the call continues, if it is of the same project. */
const continued = async (call: Call, live: LiveSessions, responses: Responses): Promise<Session | undefined> => {
  const { previous_response_id } = call.envelope
  if (previous_response_id === null) return undefined
  const id = await responses.sessionOf(call.project_id, previous_response_id)
  const session = id === undefined ? undefined : await live.find(id)
  return session?.row.project_id === call.project_id ? session : undefined
}

/** In whose name a request comes that is no call; nothing is started. Throws INVALID_HEADER. */
export const callerOf = async (
  { ids, agents }: Pick<Finders, 'ids' | 'agents'>,
  headers: Readonly<Record<string, string>>,
  identity: Identity,
): Promise<Caller> => {
  const agent_id = agentOf(headers, identity, ids)
  const agent = agent_id === null ? undefined : await agents.find(agent_id)
  const project_id = projectHeader(headers, ids) ?? agent?.project_id ?? DEFAULT_PROJECT
  return { project_id, agent_id, external_session_id: externalId(headers, {}, ids)?.external_id ?? null }
}

/** The agent that a key stands for, else the one that the header names; a key is not overruled by a header. */
const agentOf = (headers: Readonly<Record<string, string>>, identity: Identity, ids: Identifiers): string | null =>
  identity.agent_id ?? named(headers, AGENT_HEADER, ids) ?? null

const AGENT_HEADER = 'x-guard-agent-id'

/** The header names another agent than the key. */
const isOverruled = (
  headers: Readonly<Record<string, string>>,
  { agent_id }: Identity,
  { name }: Identifiers,
): boolean => {
  const sent = headers[AGENT_HEADER]
  return agent_id !== null && sent !== undefined && sent !== agent_id && name(sent) !== agent_id
}

const projectHeader = (headers: Readonly<Record<string, string>>, ids: Identifiers): string | undefined =>
  named(headers, 'x-guard-project-id', ids)

/** The project or agent that a header names. Throws INVALID_HEADER. */
const named = (
  headers: Readonly<Record<string, string>>,
  header: string,
  { name }: Identifiers,
): string | undefined => {
  const sent = headers[header]
  if (sent === undefined) return undefined
  const stored = name(sent)
  if (stored === undefined) throw badName(header)
  return stored
}
