import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { readJson } from 'guard-gateway/core'
import { type Check, type Finding, ok, warning } from './check.ts'
import { reach } from './traffic.ts'

/** What `mcp validate-policy` says of a policy that could be loaded. */
interface Validation {
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  readonly tests: readonly object[]
}

/** The policy does what it seems to. One that cannot be loaded, or fails its own tests, keeps the gateway from opening. */
export const mcpPolicy: Check = async ({ config, gateway, io }) => {
  const command = gateway?.commands.get('mcp validate-policy')
  if (config === undefined || command === undefined || config.mcp.policy === '') return []
  const { policy } = config.mcp
  const out = new PassThrough()
  const [told] = await Promise.all([
    text(out),
    command.run({ args: [policy], options: { json: true }, rest: [] }, { ...io, out }).finally(() => out.end()),
  ])
  const { warnings, tests } = readJson(told) as Validation
  return [
    ok(`MCP policy ${policy}, its tests pass (${tests.length})`),
    ...warnings.map(({ code, message }) =>
      warning(`MCP policy: ${code} ${message}`, `guard mcp validate-policy ${policy}`),
    ),
  ]
}

/** Who may approve, and with `--online`, whether something answers at the servers that have an address. */
export const mcpServers: Check = async ({ config, options }) => {
  if (config === undefined || (config.mcp.policy === '' && Object.keys(config.mcp.servers).length === 0)) return []
  const approver =
    config.mcp.approver_key === ''
      ? ok('every local program can approve MCP calls; mcp.approver_key lets only some')
      : ok('MCP calls are approved with mcp.approver_key')
  if (options.online !== true) return [approver]
  const asked = Object.entries(config.mcp.servers).map(
    async ([id, { target }]): Promise<readonly Finding[]> =>
      target === undefined ? [] : [await reach(`MCP server ${id}`, target, 'Check target, and start the server.')],
  )
  return [approver, ...(await Promise.all(asked)).flat()]
}
