import { stat } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import type { Gateway } from 'guard-gateway/core'
import { type LoginState, mcpLogins, openMcp } from 'guard-gateway/plugins/mcp'
import { commandKind } from '#lib/command'
import { readJson } from '#lib/json'
import { mcpOptions } from '../config/mcp-options.ts'
import type { Config } from '../config/schema.ts'
import { type Check, error, type Finding, ok, reason, warning } from './check.ts'

/** Time limit for a server's first response, which includes the start of a stdio server. */
const TIMEOUT_MS = 15_000

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'guard-doctor', version: '1' } },
}

/** Fields of the initialize response. */
interface InitializeResponse {
  readonly id?: unknown
  readonly result?: {
    readonly protocolVersion: string
    readonly serverInfo?: { readonly name?: string; readonly version?: string }
  }
  readonly error?: { readonly message: string }
}

/** Response of `mcp validate-policy` for a valid policy. */
interface Validation {
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  readonly tests: readonly object[]
}

/** Checks the policy. A policy that is invalid or fails its own tests prevents the start. */
export const mcpPolicy: Check = async ({ config, gateway, io }) => {
  const command = gateway?.registry(commandKind).get('mcp validate-policy')
  if (config === undefined || command === undefined || config.mcp.policy === '') return []
  const { policy } = config.mcp
  const out = new PassThrough()
  const [output] = await Promise.all([
    text(out),
    command.run({ args: [policy], options: { json: true }, rest: [] }, { ...io, out }).finally(() => out.end()),
  ])
  const { warnings, tests } = readJson(output) as Validation
  return [
    ok(`MCP policy ${policy}, its tests pass (${tests.length})`),
    ...warnings.map(({ code, message }) =>
      warning(`MCP policy: ${code} ${message}`, `guard mcp validate-policy ${policy}`),
    ),
  ]
}

/** Checks who may approve, and with `--online` that each server opens a session. The session is closed at once. */
export const mcpServers: Check = async ({ config, gateway, options }) => {
  if (config === undefined || (config.mcp.policy === '' && Object.keys(config.mcp.servers).length === 0)) return []
  const approver =
    config.mcp.approver_key === ''
      ? warning(
          'every local program can approve MCP calls, an agent included',
          'Set mcp.approver_key, and keep it where agents cannot read it.',
        )
      : ok('MCP calls are approved with mcp.approver_key')
  const logins =
    gateway === undefined || config.storage.backend === 'memory' ? [] : await loginFindings(gateway, config)
  const bundles = Object.entries(config.mcp.bundles).map(([id, bundle]) =>
    bundleFinding(config.mcp.servers, id, bundle),
  )
  if (options.online !== true || gateway === undefined) return [approver, ...logins, ...bundles]
  const findings = Object.entries(config.mcp.servers).map(([id, { target }]) => checkServer(gateway, id, target))
  return [approver, ...logins, ...(await Promise.all(findings)), ...bundles]
}

const bundleFinding = (
  servers: object,
  id: string,
  { servers: members, names }: { readonly servers: object; readonly names: string },
): Finding => {
  const ids = Object.keys(members).length > 0 ? Object.keys(members) : Object.keys(servers)
  return ok(`MCP bundle ${id} at /mcp/${id}: ${ids.join(', ')} (names: ${names})`)
}

const checkServer = async (gateway: Gateway, server_id: string, target: string | undefined): Promise<Finding> => {
  try {
    return ok(`MCP server ${server_id} answers (${await serverNameOf(gateway, server_id)})`)
  } catch (thrown) {
    const at = target === undefined ? '' : ` at ${target}`
    const fix = target === undefined ? 'Check command and args.' : 'Check target, and start the server.'
    return error(`MCP server ${server_id}${at} does not answer: ${reason(thrown)}`, fix)
  }
}

/** Name and version that a server reports. Rejects with the reason of a failure. */
const serverNameOf = async (gateway: Gateway, server_id: string): Promise<string> => {
  const session = await openMcp(gateway, { server_id })
  const timeout = new AbortController()
  try {
    const answers = await Promise.race([
      session.send(JSON.stringify(INITIALIZE)),
      setTimeout(TIMEOUT_MS, undefined, { signal: timeout.signal }),
    ])
    if (answers === undefined) throw new Error(`it said nothing for ${TIMEOUT_MS / 1000} s`)
    const output = answers
      .map((answer) => readJson(answer) as InitializeResponse)
      .find(({ id }) => id === INITIALIZE.id)
    const { result, error: refused } = output ?? {}
    if (result === undefined) throw new Error(refused?.message ?? 'it did not answer the question')
    const { serverInfo: { name = '?', version = '' } = {}, protocolVersion } = result
    return `${name} ${version}, MCP ${protocolVersion}`.replace(' ,', ',')
  } finally {
    timeout.abort()
    await session.end()
  }
}

/** Who must log in at which MCP server, and whether others can read what logins are kept with. */
const loginFindings = async (gateway: Gateway, config: Config): Promise<readonly Finding[]> => {
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
