import type { Gateway } from 'guard-gateway/core'
import { mcpOf } from '../mcp.ts'
import type { LoginState } from './login-states.ts'

/** The logins at all servers that have them. */
export const mcpLogins = async (gateway: Gateway): Promise<readonly LoginState[]> => {
  const mcp = mcpOf(gateway)
  const servers = mcp.serverStates().filter(({ server }) => server.login !== undefined)
  if (servers.length === 0) return []
  const logins = await mcp.logins()
  return (await Promise.all(servers.map(({ server }) => logins.states(server)))).flat()
}
