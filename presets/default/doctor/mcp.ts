import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import type { Gateway } from 'guard-gateway/core'
import { commandKind } from 'guard-gateway/lib/command'
import { readJson } from 'guard-gateway/lib/json'
import { openMcp } from 'guard-gateway/plugins/mcp'
import { type Check, error, type Finding, ok, reason, warning } from './check.ts'

/** How long a server may take for its first word: one that is a program has to start. */
const ANSWER_MS = 15_000

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'guard-doctor', version: '1' } },
}

/** What is read of the answer. */
interface Met {
  readonly id?: unknown
  readonly result?: {
    readonly protocolVersion: string
    readonly serverInfo?: { readonly name?: string; readonly version?: string }
  }
  readonly error?: { readonly message: string }
}

/** What `mcp validate-policy` says of a policy that could be loaded. */
interface Validation {
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  readonly tests: readonly object[]
}

/** The policy does what it seems to. One that cannot be loaded, or fails its own tests, keeps the gateway from opening. */
export const mcpPolicy: Check = async ({ config, gateway, io }) => {
  const command = gateway?.registry(commandKind).get('mcp validate-policy')
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

/** Who may approve, and with `--online`, whether the servers open a session, which is ended at once. */
export const mcpServers: Check = async ({ config, gateway, options }) => {
  if (config === undefined || (config.mcp.policy === '' && Object.keys(config.mcp.servers).length === 0)) return []
  const approver =
    config.mcp.approver_key === ''
      ? ok('every local program can approve MCP calls; mcp.approver_key lets only some')
      : ok('MCP calls are approved with mcp.approver_key')
  if (options.online !== true || gateway === undefined) return [approver]
  const asked = Object.entries(config.mcp.servers).map(([id, { target }]) => asking(gateway, id, target))
  return [approver, ...(await Promise.all(asked))]
}

const asking = async (gateway: Gateway, server_id: string, target: string | undefined): Promise<Finding> => {
  try {
    return ok(`MCP server ${server_id} answers (${await metBy(gateway, server_id)})`)
  } catch (thrown) {
    const at = target === undefined ? '' : ` at ${target}`
    const fix = target === undefined ? 'Check command and args.' : 'Check target, and start the server.'
    return error(`MCP server ${server_id}${at} does not answer: ${reason(thrown)}`, fix)
  }
}

/** What a server says of itself when a session is opened. Rejects with why there is none. */
const metBy = async (gateway: Gateway, server_id: string): Promise<string> => {
  const session = await openMcp(gateway, { server_id })
  const late = new AbortController()
  try {
    const answers = await Promise.race([
      session.send(JSON.stringify(INITIALIZE)),
      setTimeout(ANSWER_MS, undefined, { signal: late.signal }),
    ])
    if (answers === undefined) throw new Error(`it said nothing for ${ANSWER_MS / 1000} s`)
    const told = answers.map((answer) => readJson(answer) as Met).find(({ id }) => id === INITIALIZE.id)
    const { result, error: refused } = told ?? {}
    if (result === undefined) throw new Error(refused?.message ?? 'it did not answer the question')
    const { serverInfo: { name = '?', version = '' } = {}, protocolVersion } = result
    return `${name} ${version}, MCP ${protocolVersion}`.replace(' ,', ',')
  } finally {
    late.abort()
    await session.end()
  }
}
