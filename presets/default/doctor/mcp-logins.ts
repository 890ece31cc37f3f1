import { stat } from 'node:fs/promises'
import type { Gateway } from 'guard-gateway/core'
import { type LoginState, mcpLogins } from 'guard-gateway/plugins/mcp'
import { mcpOptions } from '../config/mcp-options.ts'
import type { Config } from '../config/schema.ts'
import { type Finding, ok, warning } from './check.ts'

/** Who must log in at which MCP server, and whether others can read what logins are kept with. */
export const loginFindings = async (gateway: Gateway, config: Config): Promise<readonly Finding[]> => {
  const { login_key_file } = mcpOptions(config)
  const key = login_key_file === undefined ? [] : await keyFindings(login_key_file)
  return [...(await mcpLogins(gateway)).map(findingOf), ...key]
}

const findingOf = (login: LoginState): Finding => {
  const { server_id, agent_id, state, reason, wanted, issuer } = login
  const whose = agent_id === null ? '' : ` of agent ${agent_id}`
  const command = `guard mcp login ${server_id}${agent_id === null ? '' : ` --agent ${agent_id}`}`
  if (state === 'needed') return warning(`MCP server ${server_id} needs a login`, command)
  if (state === 'ended') return warning(`the login${whose} at MCP server ${server_id} has ended: ${reason}`, command)
  if (state === 'wants_more')
    return warning(`MCP server ${server_id} wants more than its login${whose} allows: ${wanted.join(' ')}`, command)
  return ok(`logged in${whose} at MCP server ${server_id} (${issuer}${untilText(login)})`)
}

const untilText = ({ expires_at, renewable }: LoginState): string => {
  if (renewable) return ', renewed by itself'
  return expires_at === null ? '' : `, until ${new Date(expires_at).toISOString()}`
}

/** Nothing of a file that is not there, or is private. */
const keyFindings = async (file: string): Promise<readonly Finding[]> => {
  const { mode } = await stat(file).catch(() => ({ mode: 0 }))
  if (process.platform === 'win32' || (mode & 0o077) === 0) return []
  return [warning(`${file} can be read by others, and logins at MCP servers are kept with it`, `chmod 600 ${file}`)]
}
