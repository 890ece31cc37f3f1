import type { Gateway } from 'guard-gateway/core'
import { isJsonObject, readJson } from '#lib/json'
import type { McpServer } from '#lib/mcp-transport'
import { viewOf } from '../login/schemas.ts'
import type { ServersView, ServerView } from '../management/server-schemas.ts'
import type { Mcp } from '../mcp.ts'
import type { Policy } from '../policy/index.ts'
import { INSTRUCTIONS, pinDifference, pinOf, type ToolRow, waitingTools } from '../tools/index.ts'
import type { McpServerState } from './server-state.ts'

/** The servers behind the proxy, with their tools and what the policy does to them; after them servers of other processes whose tools wait for a person. */
export const serversView = async (mcp: Mcp): Promise<ServersView> => {
  const states = mcp.serverStates()
  const { policy: file = '' } = mcp.options
  const waiting = (await waitingTools(mcp.gateway)).filter(({ server_id }) => mcp.serverState(server_id) === undefined)
  if (states.length === 0 && file === '' && waiting.length === 0) return { servers: [], bundles: [], policy: null }
  const policies = await mcp.policies()
  const policy = await policies.current()
  const { loaded_at, ...state } = policies.state()
  const servers = await Promise.all(states.map((state) => serverView(mcp, state, policy)))
  const elsewhere = [...Map.groupBy(waiting, ({ server_id }) => server_id)].map(([id, rows]) =>
    elsewhereView(mcp, id, rows, policy),
  )
  return {
    servers: [...servers, ...(await Promise.all(elsewhere))],
    bundles: await bundlesOf(mcp),
    policy: { ...state, loaded_at: new Date(loaded_at).toISOString() },
  }
}

/** Read where there are servers: the code of bundles is not loaded for nothing. */
const bundlesOf = async (mcp: Mcp): Promise<ServersView['bundles']> => {
  if (mcp.configuredIds().length === 0) return []
  const { bundlesView } = await import('../bundle/bundles-view.ts')
  return bundlesView(mcp)
}

const serverView = async (mcp: Mcp, state: McpServerState, policy: Policy): Promise<ServerView> => {
  const { server, tools, facts, seen_at, last_error } = state
  await tools.refresh()
  const pinOfTool = (name: string) => (policy.pinning === 'off' ? 'off' : tools.pin(name))
  const listed = [...tools.names()].map((name) => ({
    name,
    fingerprint: tools.fingerprint(name),
    pin: pinOfTool(name),
  }))
  const serverPin = tools.serverPin()
  // what waits for a person is shown with what else does
  if (policy.pinning !== 'off' && serverPin !== 'known')
    listed.push({ name: INSTRUCTIONS, fingerprint: tools.instructionsFingerprint(), pin: serverPin })
  const sessions = [...mcp.sessions].map(({ session }) => session).filter((session) => session.server.id === server.id)
  return {
    id: server.id,
    name: server.name,
    transport: server.transport,
    target: targetOf(mcp.gateway, server),
    status: last_error !== undefined ? 'failing' : seen_at === undefined ? 'unknown' : 'ok',
    protocol_version: facts?.protocol_version ?? null,
    server_info: infoOf(facts?.server_info),
    fingerprint: tools.serverFingerprint(),
    tools: await toolViews(mcp.gateway, server.id, policy, listed),
    sessions: sessions.length,
    processes: server.transport === 'stdio' ? sessions.filter(({ link }) => link.runs === true).length : null,
    last_seen_at: seen_at === undefined ? null : new Date(seen_at).toISOString(),
    last_error: last_error ?? null,
    logins: server.login === undefined ? null : (await (await mcp.logins()).states(server)).map(viewOf),
  }
}

/** A server that another process has started, as far as the storage knows it. */
const elsewhereView = async (
  { gateway }: Mcp,
  id: string,
  rows: readonly ToolRow[],
  policy: Policy,
): Promise<ServerView> => {
  const listed = rows.map((row) => ({ name: row.tool, fingerprint: row.seen, pin: pinOf(row) }))
  return {
    ...{ id, name: id, transport: 'stdio', target: null, status: 'unknown' as const },
    ...{ protocol_version: null, server_info: null, fingerprint: null, sessions: 0, processes: null },
    tools: await toolViews(gateway, id, policy, listed),
    ...{ last_seen_at: null, last_error: null, logins: null },
  }
}

type ToolView = ServerView['tools'][number]

const toolViews = (
  gateway: Gateway,
  server_id: string,
  policy: Policy,
  listed: readonly Pick<ToolView, 'name' | 'fingerprint' | 'pin'>[],
): Promise<ToolView[]> => {
  const hidden = policy.hidden(server_id)
  return Promise.all(
    listed.map(async (tool) => ({
      ...tool,
      difference:
        tool.pin === 'new' || tool.pin === 'changed' ? await pinDifference(gateway, server_id, tool.name) : null,
      effect: policy.effect(server_id, tool.name, tool.pin),
      hidden: hidden(tool.name),
    })),
  )
}

const targetOf = ({ redact }: Gateway, { target, command, args }: McpServer): string | null => {
  const text = target ?? (command === undefined ? undefined : [command, ...args].join(' '))
  return text === undefined ? null : redact.text(text)
}

const infoOf = (json: string | undefined): ServerView['server_info'] => {
  const info: unknown = json === undefined ? undefined : readJson(json)
  if (!isJsonObject(info) || typeof info.name !== 'string') return null
  return { name: info.name, version: typeof info.version === 'string' ? info.version : null }
}
