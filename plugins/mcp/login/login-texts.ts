import type { McpServer, NoCredential } from '#lib/mcp-transport'
import type { LoginName } from './login-rows.ts'
import type { McpLoginRow } from './tables.ts'

/** The command that logs in. */
export const loginCommand = ({ server_id, agent_id }: LoginName): string =>
  `guard mcp login ${server_id}${agent_id === '' ? '' : ` --agent ${agent_id}`}`

const needed = (message: string): NoCredential => ({ code: 'MCP_LOGIN_NEEDED', message })

/** Nobody has logged in. */
export const neverLoggedIn = (name: LoginName): NoCredential =>
  needed(`The MCP server "${name.server_id}" needs a login. Run: ${loginCommand(name)}`)

/** The login is over. */
export const loginEnded = (name: LoginName, reason: string): NoCredential =>
  needed(`The login at the MCP server "${name.server_id}" has ended: ${reason} Run: ${loginCommand(name)}`)

/** The server wants more than the login allows. */
export const moreScopes = (name: LoginName, scopes: readonly string[], { login }: McpServer): NoCredential => {
  const listed = scopes.length === 0 ? '' : ` (${scopes.join(' ')})`
  const fixed = login?.scopes?.length ? ` Add them to mcp.servers.${name.server_id}.login.scopes first.` : ''
  return needed(
    `The MCP server "${name.server_id}" wants more rights than its login has${listed}.${fixed} Run: ${loginCommand(name)}`,
  )
}

/** The session is of no agent that could have a login. */
export const noAgent = (server_id: string): NoCredential =>
  needed(
    `The MCP server "${server_id}" has a login for each agent, and this session is of none. Connect with the key of an agent: guard agents key <agent>.`,
  )

/** The authorization server cannot be asked now. */
export const notRenewed = ({ server_id }: LoginName, reason: string): NoCredential => ({
  code: 'UPSTREAM_UNREACHABLE',
  message: `The login at the MCP server "${server_id}" could not be renewed: ${reason} Nothing was sent to the server; try again.`,
})

/** Why a login that is kept cannot be used; undefined: it can. */
export const unusable = (
  { row, tokens }: { readonly row: McpLoginRow; readonly tokens: { readonly target: string } | undefined },
  { target }: Pick<McpServer, 'target'>,
): string | undefined => {
  if (row.state === 'ended') return row.reason ?? 'the server refused it.'
  if (tokens === undefined)
    return 'it was kept with another key than this gateway has (mcp.login_key, or the file .login-key beside the database).'
  return tokens.target === target ? undefined : 'it was for another address of the server.'
}
