import { type Gateway, GuardError } from 'guard-gateway/core'
import { mcpDefaults } from '#lib/config-defaults'
import { type McpServer, mcpTransportKind, ownMcpServerKind } from '#lib/mcp-transport'
import { argumentKey } from '#lib/trace'
import { Approvals } from './approvals/index.ts'
import { Audit } from './audit/index.ts'
import type { Bundles } from './bundle/bundles.ts'
import { connectionsOf } from './connections.ts'
import type { Logins } from './login/index.ts'
import type { McpLimits, McpOptions } from './options.ts'
import type { Policies, PolicyChange, PolicyOptions } from './policy/index.ts'
import { serverOf, serversOf } from './servers/configured-servers.ts'
import type { McpServerState } from './servers/server-state.ts'
import type { Door } from './session/client-session.ts'
import type { RunningSession, ServerContext } from './session/running-session.ts'
import type { SessionInfo } from './session/session.ts'
import { Sessions } from './session/sessions.ts'
import { type PinRows, sessionPins, ToolCatalog } from './tools/index.ts'

/** MCP servers of the gateway's own, made when a client asks for one. */
class OwnServers {
  readonly #mcp: Mcp
  readonly #states = new Map<string, McpServerState>()
  readonly #policies = new Map<string, Promise<Policies>>()

  constructor(mcp: Mcp) {
    this.#mcp = mcp
  }

  /** Undefined if the gateway has no such server. */
  state(id: string): McpServerState | undefined {
    const known = this.#states.get(id)
    if (known !== undefined) return known
    const own = this.#mcp.gateway.registry(ownMcpServerKind).get(id)
    if (own === undefined) return undefined
    // its definitions are those of this program, so that nobody has to trust them
    const state = this.#mcp.createServerState(serverOf(id, own), sessionPins())
    this.#states.set(id, state)
    return state
  }

  states(): readonly McpServerState[] {
    return [...this.#states.values()]
  }

  /** The policy of such a server where no policy file is named; undefined: the one in force. */
  policies(state: McpServerState): Promise<Policies> | undefined {
    const { id } = state.server
    const { gateway, options } = this.#mcp
    const own = this.#states.get(id) === state ? gateway.registry(ownMcpServerKind).get(id) : undefined
    if (own === undefined || (options.policy ?? '') !== '') return undefined
    const known = this.#policies.get(id) ?? this.#mcp.openPolicies({ policy: own.policy, fault: gateway.fault })
    this.#policies.set(id, known)
    return known
  }
}

/** The way of clients to one server. */
class ServerDoor implements Door<RunningSession> {
  readonly #mcp: Mcp
  readonly #state: McpServerState

  constructor(mcp: Mcp, state: McpServerState) {
    this.#mcp = mcp
    this.#state = state
  }

  get id(): string {
    return this.#state.server.id
  }

  open(about: SessionInfo): Promise<RunningSession> {
    return this.#mcp.openSession(this.#state, about)
  }

  find(session_id: string, owner: string): RunningSession | undefined {
    return this.#mcp.sessions.find(session_id, owner, this.id)
  }

  end(running: RunningSession, reason: string): void {
    this.#mcp.sessions.end(running, reason)
  }
}

/** Requests that are being answered; the gateway waits for them before it closes. */
class InFlight {
  readonly #open = new Set<Promise<void>>()

  /** Adds the promise of a request, which must not reject. */
  add(task: Promise<void>): void {
    this.#open.add(task)
    void task.then(() => this.#open.delete(task))
  }

  /** Resolves when none is left, those that are added meanwhile included. */
  async over(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }
}

/** How often the policy file is looked at while no call comes: a change is read within a second. */
const POLL_MS = 1_000

/** The MCP proxy of one gateway: its servers, its policy, its sessions, and what they share. */
export class Mcp {
  readonly gateway: Gateway
  readonly options: McpOptions
  readonly limits: McpLimits
  readonly audit: Audit
  readonly approvals: Approvals
  readonly sessions: Sessions
  /** After how long without traffic a session ends. */
  readonly idle_ms: number
  /** Messages of clients that are being answered over HTTP. */
  readonly exchanges = new InFlight()
  readonly #servers = new Map<string, McpServerState>()
  /** Servers of the gateway's own that were asked for. */
  readonly #own = new OwnServers(this)
  #reading: Promise<Policies> | undefined
  #policies: Promise<Policies> | undefined
  #bundles: Promise<Bundles> | undefined
  #openBundles: Bundles | undefined
  #key: Promise<string> | undefined
  #logins: Promise<Logins> | undefined
  #looking: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, options: McpOptions) {
    this.gateway = gateway
    this.options = options
    this.limits = { ...mcpDefaults.limits, ...options.limits }
    this.audit = new Audit(gateway)
    const { approval_timeout_seconds = mcpDefaults.approval_timeout_seconds } = options
    const { session_idle_seconds = mcpDefaults.session_idle_seconds } = options
    const { child_idle_seconds = mcpDefaults.child_idle_seconds } = options
    const { full_content_logging = false } = options
    const timeout_ms = approval_timeout_seconds * 1000
    this.idle_ms = session_idle_seconds * 1000
    this.approvals = new Approvals(gateway, this.audit, { timeout_ms, full_content_logging })
    this.sessions = new Sessions(gateway, this.limits, session_idle_seconds, child_idle_seconds)
  }

  /** Makes everything ready; a policy or a server that cannot be used stops the start. */
  async open(): Promise<void> {
    const { servers = {}, policy = '', env = process.env } = this.options
    for (const server of serversOf(this.gateway, servers, env)) this.add(server)
    if (policy !== '' || this.#servers.size > 0) await this.policies()
    if (Object.keys(this.options.bundles ?? {}).length > 0) await this.bundles()
    this.audit.begin()
    this.approvals.begin()
  }

  async close(): Promise<void> {
    clearInterval(this.#looking)
    this.approvals.end()
    await this.endSessions('the gateway stops')
    await (await this.#logins)?.close()
    connectionsOf(this.gateway).close()
    await this.audit.end()
  }

  /** Ends all sessions, those of bundles first; resolves when they have ended. */
  async endSessions(reason: string): Promise<void> {
    ;(await this.#bundles)?.endAll(reason)
    await this.sessions.endAll(reason)
  }

  /** Adds a server. Throws UNKNOWN if there is no such transport, DUPLICATE if there is one of this id. */
  add(server: McpServer): McpServerState {
    this.gateway.registry(mcpTransportKind).need(server.transport)
    if (this.#servers.has(server.id)) throw new GuardError('DUPLICATE', `MCP server "${server.id}" is there twice.`)
    const state = this.createServerState(server)
    this.#servers.set(server.id, state)
    return state
  }

  /** A server that is not in the list of servers. `pins`: where its trusted definitions are, if not in storage. */
  createServerState(server: McpServer, pins?: PinRows): McpServerState {
    const tools = new ToolCatalog(this.gateway, server, this.audit, pins)
    return { server, tools, list_cache: {}, facts: undefined, seen_at: undefined, last_error: undefined }
  }

  serverState(server_id: string): McpServerState | undefined {
    return this.#servers.get(server_id) ?? this.#own.state(server_id)
  }

  serverStates(): readonly McpServerState[] {
    return [...this.#servers.values(), ...this.#own.states()]
  }

  /** Ids of the servers of the configuration. */
  configuredIds(): readonly string[] {
    return [...this.#servers.keys()]
  }

  /** The way of clients to a server; undefined if there is none of this id. */
  serverDoor(server_id: string): Door | undefined {
    const state = this.serverState(server_id)
    return state === undefined ? undefined : new ServerDoor(this, state)
  }

  /** The bundles of servers, loaded when a client asks for one, or the configuration names some. */
  bundles(): Promise<Bundles> {
    this.#bundles ??= import('./bundle/bundles.ts').then(({ Bundles: Made }) => {
      this.#openBundles = new Made(this)
      return this.#openBundles
    })
    return this.#bundles
  }

  /** Open sessions of bundles, and servers that one of them does without; nothing where no bundle is used. */
  bundleHealth(): { readonly bundle_sessions?: number; readonly missing?: readonly string[] } {
    return this.#openBundles?.health ?? {}
  }

  /** The policy in force for all servers. Rejects with INVALID_POLICY. */
  policies(): Promise<Policies> {
    this.#policies ??= this.#openPolicies()
    return this.#policies
  }

  /** The first digits of the version in force; null where none is read. */
  async policyVersion(): Promise<string | null> {
    const policies = await this.#policies?.catch(() => undefined)
    return policies === undefined ? null : (await policies.current()).version.slice(0, 12)
  }

  /** Starts to read the policy early, so that it is loaded soon after the storage opens. `policies` gives its errors. */
  readPolicy(): void {
    this.#read().catch(() => {})
  }

  #read(): Promise<Policies> {
    const { policy: file = '', hide_denied_tools = false, own_files = [], env } = this.options
    this.#reading ??= this.openPolicies({
      ...(file === '' ? {} : { file }),
      ...(env === undefined ? {} : { env }),
      hide_denied_tools,
      own_files: [...new Set([...this.gateway.ownFiles, ...own_files, ...(file === '' ? [] : [file])])],
      fault: this.gateway.fault,
    })
    return this.#reading
  }

  /** Loads the judge of policies, which a gateway without MCP traffic does not need, and opens one. Rejects with INVALID_POLICY. */
  async openPolicies(options: PolicyOptions): Promise<Policies> {
    const { openPolicies } = await import('./policy/index.ts')
    return openPolicies(this.gateway, options)
  }

  async #openPolicies(): Promise<Policies> {
    const { policy: file = '' } = this.options
    const policies = await this.#read()
    await this.#keepText(policies)
    policies.onChange((change) => this.#changed(policies, change))
    if (file !== '') this.#looking = setInterval(() => void policies.current(), POLL_MS).unref()
    return policies
  }

  async #keepText(policies: Policies): Promise<void> {
    const { version, document } = await policies.current()
    this.audit.policyLoaded(version, JSON.stringify(document))
  }

  #changed(policies: Policies, { kind, current, state }: PolicyChange): void {
    const details = state.error === null ? {} : { reason: state.error }
    this.audit.event({ kind: 'policy', name: kind, policy_version: current.version, ...details })
    if (kind === 'policy.rejected') return
    this.#keepText(policies).catch((error: unknown) => this.gateway.fault(error, 'mcp:policy'))
    for (const running of this.sessions)
      running.policyChanged().catch((error: unknown) => this.gateway.fault(error, 'mcp:policy'))
  }

  /** Logins at servers, of which a gateway without such servers loads nothing. */
  logins(): Promise<Logins> {
    this.#logins ??= import('./login/index.ts').then(({ Logins }) => new Logins(this.gateway, this.options))
    return this.#logins
  }

  /** Opens a session at a server. `policies`: others than those in force. Throws what the transport throws, and OVERLOADED. */
  async openSession(state: McpServerState, about: SessionInfo, policies?: Policies): Promise<RunningSession> {
    this.#key ??= argumentKey(this.gateway.storage)
    const context: ServerContext = {
      gateway: this.gateway,
      server: state.server,
      login:
        state.server.login === undefined
          ? undefined
          : (await this.logins()).loginOf(state.server, about.key_agent_id ?? null),
      limits: this.limits,
      policies: policies ?? (await this.#own.policies(state)) ?? (await this.policies()),
      approvals: this.approvals,
      audit: this.audit,
      tools: state.tools,
      list_cache: state.list_cache,
      results: {
        gateway: this.gateway,
        server_id: state.server.id,
        outputFault: (tool, value) => state.tools.outputFault(tool, value),
        shownNames: (tool) => state.tools.shownNames(tool),
      },
      key: await this.#key,
      isLocal: (session_id) => this.sessions.has(session_id),
      failed: (reason) => {
        state.last_error = this.gateway.redact.text(reason)
      },
      initialized: (facts) => {
        state.facts = facts
        state.last_error = undefined
        state.tools.initialized(facts)
      },
      responded: () => {
        state.seen_at = this.gateway.clock.now()
      },
    }
    return this.sessions.open(context, about)
  }
}

declare module 'guard-gateway/core' {
  interface Services {
    mcp: Mcp
  }
}

/** Gives a gateway its MCP proxy; done once, when the plugin is applied. */
export const setMcp = (gateway: Gateway, mcp: Mcp): void => gateway.service('mcp').provide(mcp)

/** The MCP proxy of a gateway. Throws MISSING_PLUGIN if it has none. */
export const mcpOf = (gateway: Gateway): Mcp => gateway.service('mcp').need()
