import { type Gateway, GuardError, isShape, type McpServer, readJson } from 'guard-gateway/core'
import type { ServersView, ServerView } from './management/server-schemas.ts'
import type { Mcp, Place } from './mcp.ts'
import type { Policies } from './policy/index.ts'

/** The servers behind the proxy, with their tools and what the policy does to them. */
export const serversView = async (mcp: Mcp): Promise<ServersView> => {
  const places = mcp.places()
  const { policy: file = '' } = mcp.options
  if (places.length === 0 && file === '') return { servers: [], policy: null }
  const policies = await mcp.policies()
  const { loaded_at, ...state } = policies.state()
  const servers = await Promise.all(places.map((place) => serverView(mcp, place, policies)))
  return { servers, policy: { ...state, loaded_at: new Date(loaded_at).toISOString() } }
}

const serverView = async (mcp: Mcp, place: Place, policies: Policies): Promise<ServerView> => {
  const { server, tools, facts, seen_at, last_error } = place
  const policy = await policies.current()
  const hidden = policy.hidden(server.id)
  const sessions = [...mcp.sessions].filter(({ session }) => session.server.id === server.id).length
  return {
    id: server.id,
    name: server.name,
    transport: server.transport,
    target: targetOf(mcp.gateway, server),
    status: last_error !== undefined ? 'failing' : seen_at === undefined ? 'unknown' : 'ok',
    protocol_version: facts?.protocol_version ?? null,
    server_info: infoOf(facts?.server_info),
    fingerprint: tools.serverFingerprint(),
    tools: [...tools.names()].map((name) => ({
      name,
      fingerprint: tools.fingerprint(name),
      pin: policy.pinning === 'off' ? 'off' : tools.pin(name),
      effect: policy.effect(server.id, name),
      hidden: hidden(name),
    })),
    sessions,
    last_seen_at: seen_at === undefined ? null : new Date(seen_at).toISOString(),
    last_error: last_error ?? null,
  }
}

const targetOf = ({ redact }: Gateway, { target, command, args }: McpServer): string | null => {
  const text = target ?? (command === undefined ? undefined : [command, ...args].join(' '))
  return text === undefined ? null : redact.text(text)
}

const infoOf = (json: string | undefined): ServerView['server_info'] => {
  const info: unknown = json === undefined ? undefined : readJson(json)
  if (!isShape(info) || typeof info.name !== 'string') return null
  return { name: info.name, version: typeof info.version === 'string' ? info.version : null }
}

/** The server of an id. Throws MCP_SERVER_NOT_FOUND. */
export const needPlace = (mcp: Mcp, server_id: string): Place => {
  const place = mcp.place(server_id)
  if (place !== undefined) return place
  throw new GuardError('MCP_SERVER_NOT_FOUND', undefined, { known: mcp.places().map(({ server }) => server.id) })
}
