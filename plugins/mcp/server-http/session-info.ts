import type { IncomingHttpHeaders } from 'node:http'
import { type Gateway, GuardError, type Identity } from 'guard-gateway/core'
import { headerText } from 'guard-gateway/lib/http'
import { storedId } from 'guard-gateway/lib/ids'
import { everyProject } from 'guard-gateway/lib/principal'
import { isSessionName } from 'guard-gateway/lib/session'
import { GATEWAY_KEY } from '../policy/known-keys.ts'
import { NAME, type SessionInfo } from '../session/session.ts'

const isName = (text: string): boolean => NAME.test(text)

/** The key that opened a session: no other agent key may use it. */
export const ownerOf = (identity: Identity | undefined): string => identity?.key_id ?? 'gateway'

/** How a session of the HTTP server is labelled: by the headers of its first request, and by the agent of its key. Throws INVALID_HEADER. */
export const sessionInfo = async (
  gateway: Gateway,
  headers: IncomingHttpHeaders,
  identity: Identity | undefined,
): Promise<SessionInfo> => {
  const named = (header: string, isAllowed: (text: string) => boolean): string | undefined => {
    const sent = headers[header]
    if (sent === undefined) return
    const value = typeof sent === 'string' ? headerText(sent) : ''
    const stored = isAllowed(value) ? storedId(value, gateway.redact) : undefined
    if (stored !== undefined) return stored
    throw new GuardError('INVALID_HEADER', `The header ${header} cannot be used as an id.`, { path: header })
  }
  const key_names = identity === undefined ? [] : await keyNames(gateway, identity)
  const agent_id = identity?.agent_id ?? named('x-guard-agent-id', isName) ?? null
  const agent = agent_id === null ? undefined : await gateway.storage.get('agents', agent_id)
  return {
    client_transport: 'http',
    merged: false,
    owner: ownerOf(identity),
    key_names,
    project_id: named('x-guard-project-id', isName) ?? agent?.project_id ?? 'default',
    agent_id,
    key_agent_id: identity?.agent_id ?? null,
    projects: readableProjects(identity, agent?.project_id),
    external_session_id:
      named('x-guard-session-id', isSessionName) ?? named('x-client-session-id', isSessionName) ?? null,
    notice: (text) => gateway.fault(new Error(text), 'mcp'),
    stderr: () => {},
  }
}

/** What policies may call a key: its id, and the name that a key with scopes has. */
const keyNames = async (gateway: Gateway, { key_id, agent_id }: Identity): Promise<readonly string[]> => {
  if (key_id === null) return [GATEWAY_KEY]
  if (agent_id !== null || !gateway.storage.has('access_keys')) return [key_id]
  const row = await everyProject(() => gateway.storage.get('access_keys', key_id))
  return row === undefined ? [key_id] : [key_id, row.name]
}

/** The projects whose records a key may read: those that it is bound to; without the scope \`read\`, that of its agent; of the gateway's own key all. */
const readableProjects = (
  identity: Identity | undefined,
  agents: string | null | undefined,
): readonly string[] | null => {
  if (identity?.projects) return identity.projects
  const isAgents = identity !== undefined && identity.key_id !== null && identity.scopes?.has('read') !== true
  return isAgents ? [agents ?? 'default'] : null
}
