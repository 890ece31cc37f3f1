import { type Gateway, GuardError, type Plugin, stages } from 'guard-gateway/core'
import { commandKind } from '#lib/command'
import { type Frame, type FrameFault, readFrame } from '#lib/json-rpc'
import { type McpServer, mcpTransportKind } from '#lib/mcp-transport'
import { instanceFactKind } from '#lib/session'
import { limitTable } from './actions/tables.ts'
import { approvalTables, type Decision, decideApproval } from './approvals/index.ts'
import { auditTables } from './audit/index.ts'
import { mcpErrors } from './error-codes.ts'
import type { LoginState } from './login/login-states.ts'
import { loginTable } from './login/tables.ts'
import { Mcp, mcpOf, setMcp } from './mcp.ts'
import type { McpOptions } from './options.ts'
import { policyCommands } from './policy/commands.ts'
import type { OutgoingMessage } from './relay/response.ts'
import { runCommand } from './server-stdio/run-command.ts'
import { serverOf } from './servers/configured-servers.ts'
import type { McpServerState } from './servers/server-state.ts'
import type { SessionInfo } from './session/session.ts'
import { testServerCommand } from './test-server/command.ts'
import { inProcess } from './test-server/in-process.ts'
import { sessionPins, toolTable } from './tools/index.ts'

export { type CallOutcome, type FrameContext, type McpHooks, mcpHooks } from './hooks.ts'
export type { ToolCall } from './judge/tool-call.ts'
export type { Action, PartialVerdict } from './judge/verdict.ts'

export type { LoginState } from './login/login-states.ts'
export { isRedirect } from './login/redirect-address.ts'
export { parseKey as parseLoginKey } from './login/sealing-key.ts'
export { mcpCommands } from './management/commands.ts'

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

/** The logins at all servers that have them. */
export const mcpLogins = async (gateway: Gateway): Promise<readonly LoginState[]> => {
  const mcp = mcpOf(gateway)
  const servers = mcp.serverStates().filter(({ server }) => server.login !== undefined)
  if (servers.length === 0) return []
  const logins = await mcp.logins()
  return (await Promise.all(servers.map(({ server }) => logins.states(server)))).flat()
}

/** A session of a client inside this process. */
export interface OpenMcpOptions {
  readonly server_id: string
  /** Id of a registered transport, where the configuration has no server of this id: only this session sees it. */
  readonly transport?: string
  readonly server?: Partial<McpServer>
  /** Only this session trusts the first list of such a server: nothing is stored. */
  readonly pins?: 'session'
  /** A policy as data instead of the one in force. */
  readonly policy?: unknown
  readonly project_id?: string
  readonly agent_id?: string | null
  readonly external_session_id?: string | null
  /** Id and name of a key, as if it had opened the session. */
  readonly key_names?: readonly string[]
  readonly origin?: 'mcp' | 'playground'
}

/** One client of the proxy inside this process. */
export interface OpenedMcp {
  readonly session_id: string
  /** Sends one message, as JSON text; gives every message that comes for it, in order. */
  send(message: string): Promise<readonly string[]>
  /** Decides a question of this session as a person does, and gives what it is then. Throws APPROVAL_NOT_FOUND, APPROVAL_DECIDED and APPROVAL_EXPIRED. */
  decide(approval_id: string, decision: Pick<Decision, 'action' | 'scope'>): Promise<'allowed' | 'denied'>
  end(): Promise<void>
}

const quiet: Pick<SessionInfo, 'notice' | 'stderr'> = { notice: () => {}, stderr: () => {} }

/** Opens a session at a server, with the same judgement and the same records as one that comes over HTTP or standard input. */
export const openMcp = async (gateway: Gateway, options: OpenMcpOptions): Promise<OpenedMcp> => {
  const mcp = mcpOf(gateway)
  const { policy } = options
  const state = stateOfServer(mcp, options)
  const policies =
    policy === undefined ? undefined : await mcp.openPolicies({ policy, fault: (...args) => gateway.fault(...args) })
  const about: SessionInfo = {
    client_transport: 'memory',
    merged: false,
    owner: '',
    project_id: options.project_id ?? 'default',
    agent_id: options.agent_id ?? null,
    external_session_id: options.external_session_id ?? null,
    key_names: options.key_names ?? [],
    origin: options.origin ?? 'mcp',
    ...quiet,
  }
  const running = await mcp.openSession(state, about, policies)
  const { session, clientRelay } = running
  return {
    session_id: session.id,
    async send(message) {
      const answer = await clientRelay.take(readFrame(Buffer.from(message), 'client') satisfies Frame | FrameFault)
      if (answer.form === 'none') return []
      if (answer.form === 'json') return [String(answer.message)]
      const messages: string[] = []
      for await (const out of answer.events) messages.push(...textOf(out))
      return messages
    },
    async decide(id, decision) {
      const row = await gateway.storage.get('mcp_approvals', id)
      if (row?.session_id !== session.id)
        throw new GuardError(mcpErrors.APPROVAL_NOT_FOUND, `This session has not asked the question "${id}".`)
      await decideApproval(gateway, mcp.approvals, id, decision, 'api')
      return decision.action === 'allow' ? 'allowed' : 'denied'
    },
    async end() {
      mcp.sessions.end(running, 'ended')
      await running.end('ended')
    },
  }
}

const stateOfServer = (mcp: Mcp, { server_id, transport, server, pins }: OpenMcpOptions): McpServerState => {
  const known = mcp.serverState(server_id)
  if (known === undefined) {
    const own = { ...serverOf(server_id, { transport: transport ?? 'stdio' }), ...server, id: server_id }
    return mcp.createServerState(own, pins === 'session' ? sessionPins() : undefined)
  }
  if (transport === undefined || known.server.transport === transport) return known
  throw new GuardError(
    'DUPLICATE',
    `The configuration has an MCP server "${server_id}", which is reached by "${known.server.transport}" and not by "${transport}". Give it another name.`,
  )
}

const textOf = ({ message }: OutgoingMessage): readonly string[] => (message === undefined ? [] : [String(message)])
