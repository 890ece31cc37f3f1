import { type Gateway, type Plugin, stages } from 'guard-gateway/core'
import { commandKind } from 'guard-gateway/lib/command'
import { mcpTransportKind } from 'guard-gateway/lib/mcp-transport'
import { instanceFactKind } from 'guard-gateway/lib/session'
import { limitTable } from './actions/tables.ts'
import { approvalTables } from './approvals/index.ts'
import { auditTables } from './audit/index.ts'
import { mcpErrors } from './error-codes.ts'
import { loginTable } from './login/tables.ts'
import { Mcp, setMcp } from './mcp.ts'
import type { McpOptions } from './options.ts'
import { policyCommands } from './policy/commands.ts'
import { runCommand } from './server-stdio/run-command.ts'
import { testServerCommand } from './test-server/command.ts'
import { inProcess } from './test-server/in-process.ts'
import { toolTable } from './tools/index.ts'

export { type CallOutcome, type FrameContext, type McpHooks, mcpHooks } from './hooks.ts'
export type { ToolCall } from './judge/tool-call.ts'
export type { Action, PartialVerdict } from './judge/verdict.ts'
export { mcpLogins } from './login/configured-logins.ts'
export type { LoginState } from './login/login-states.ts'
export { isRedirect } from './login/redirect-address.ts'
export { parseKey as parseLoginKey } from './login/sealing-key.ts'
export { mcpCommands } from './management/commands.ts'
export { type OpenedMcp, type OpenMcpOptions, openMcp } from './open-mcp.ts'
export type { McpLimits, McpOptions, McpServerOptions } from './options.ts'

/** The permission proxy between MCP clients and servers: it judges every tool call and passes on everything else unchanged. */
export const mcp = (options: McpOptions = {}): Plugin => ({
  name: 'mcp',
  requires: ['replay'],
  apply(gateway: Gateway) {
    gateway.errorCodes.add(...Object.values(mcpErrors))
    const proxy = new Mcp(gateway, options)
    setMcp(gateway, proxy)
    gateway.service('auditRecords').provide(proxy.audit.records)
    if (options.approver_key !== undefined) gateway.approver.demand(options.approver_key)
    for (const table of [...auditTables, ...approvalTables, limitTable, loginTable, toolTable])
      gateway.tables.add(table)
    for (const command of [runCommand(gateway), ...policyCommands(gateway), testServerCommand])
      gateway.registry(commandKind).add(command)
    gateway.registry(mcpTransportKind).add(inProcess)
    gateway.health.set('mcp', () => ({
      servers: proxy.serverStates().length,
      sessions: proxy.sessions.size,
      ...proxy.bundleHealth(),
      dropped: proxy.sessions.dropped,
    }))
    gateway.registry(instanceFactKind).add({ id: 'mcp_policy', value: () => proxy.policyVersion() })
    gateway.hooks.open.tapPromise('mcp', () => proxy.open())
    gateway.hooks.drain.tapPromise('mcp', () => proxy.exchanges.over())
    gateway.hooks.close.tapPromise({ name: 'mcp', stage: stages.close.mcp }, () => proxy.close())
    gateway.hooks.http.tapPromise('mcp', async (app) => {
      const { addRoutes } = await import('./routes.ts')
      await addRoutes(app, proxy)
    })
  },
})
