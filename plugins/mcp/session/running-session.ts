import type { Gateway } from 'guard-gateway/core'
import { type McpLogin, type McpServer, mcpTransportKind } from '#lib/mcp-transport'
import type { Approvals } from '../approvals/index.ts'
import type { Audit } from '../audit/index.ts'
import { mcpHooks } from '../hooks.ts'
import { judgeCalls } from '../judge/judge-call.ts'
import { judgeRequests } from '../judge/judge-request.ts'
import type { ServerFacts } from '../messages/initialize.ts'
import type { McpLimits } from '../options.ts'
import type { Policies, Policy } from '../policy/index.ts'
import { ClientRelay } from '../relay/client-relay.ts'
import { ServerRelay } from '../relay/server-relay.ts'
import type { ResultParts } from '../results/check-result.ts'
import type { ServerTools } from '../tools/server-tools.ts'
import { Session, type SessionInfo } from './session.ts'

/** The last list of a server. Sessions of one server mostly request the same page. */
export interface ListCache {
  page?: { readonly policy: Policy; readonly audience: string; readonly page: string; readonly rewritten: string }
  /** Fingerprint of the server's tools; absent before the first list. */
  fingerprint?: string | null
}

/** What one server needs for all its sessions. */
export interface ServerContext {
  readonly gateway: Gateway
  readonly server: McpServer
  /** What is shown to the server; undefined: it has no login. */
  readonly login: McpLogin | undefined
  readonly limits: McpLimits
  readonly policies: Policies
  readonly approvals: Approvals
  readonly audit: Audit
  readonly tools: ServerTools
  readonly list_cache: ListCache
  readonly results: ResultParts
  /** What arguments are hashed with. */
  readonly key: string
  /** Whether a session is one of this process. */
  isLocal(session_id: string): boolean
  /** The session could not be opened. */
  failed(reason: string): void
  initialized(facts: ServerFacts): void
  responded(): void
}

const LIST_CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'

const cachedPage = ({ page: last }: ListCache, policy: Policy, audience: string, page: string): string | undefined =>
  last?.policy === policy && last.audience === audience && last.page === page ? last.rewritten : undefined

/** A session with its link and both relays; messages of the client go to `clientRelay`. */
export class RunningSession {
  readonly session: Session
  readonly clientRelay: ClientRelay
  readonly #context: ServerContext
  readonly #serverRelay: ServerRelay
  #ending: Promise<void> | undefined

  private constructor(
    context: ServerContext,
    session: Session,
    over: (running: RunningSession, reason: string) => void,
  ) {
    const { gateway } = context
    this.#context = context
    this.session = session
    const end = (reason: string) => {
      if (session.protocol_version === undefined) context.failed(reason)
      over(this, reason)
    }
    void session.link.lost.then(({ reason }) => {
      if (!session.ended) end(reason)
    })
    const judgeRequest = judgeRequests({ ...context, session })
    this.#serverRelay = new ServerRelay(gateway, session, {
      tools: context.tools,
      rewriteList: (page) => this.#rewriteList(page),
      checkResult: async (frame, tool, checks) => {
        const { checkResult } = await import('../results/check-result.ts')
        return checkResult(context.results, frame, tool, checks)
      },
      initialized: (facts) => context.initialized(facts),
      responded: () => context.responded(),
      judgeRequest: (request) => judgeRequest(request, 'server'),
      over: end,
    })
    this.clientRelay = new ClientRelay(gateway, session, {
      relay: this.#serverRelay,
      judge: judgeCalls({ ...context, session }),
      judgeRequest,
      over: end,
    })
  }

  /** Opens the link to the server. `over` is called once when the session cannot continue. */
  static async open(
    context: ServerContext,
    about: SessionInfo,
    over: (running: RunningSession, reason: string) => void,
  ): Promise<RunningSession> {
    const { gateway, server, limits, audit } = context
    const session = new Session(gateway, server, about, limits)
    session.log = audit.session({
      id: session.id,
      server_id: server.id,
      transport: about.client_transport,
      project_id: about.project_id,
      agent_id: about.agent_id,
      external_session_id: about.external_session_id,
      origin: about.origin ?? 'mcp',
    })
    if (context.login !== undefined) session.login = context.login
    session.link = await gateway.registry(mcpTransportKind).need(server.transport).open(server, session)
    return new RunningSession(context, session, over)
  }

  /** Ends the session on both sides; resolves when the server is done with it. */
  end(reason: string): Promise<void> {
    this.#ending ??= this.#end(reason)
    return this.#ending
  }

  async #end(reason: string): Promise<void> {
    const { gateway, approvals, policies } = this.#context
    const { session } = this
    session.ended = true
    session.about.ended?.(reason)
    session.log.event({ kind: 'session', name: 'session.ended', reason })
    policies.endSession(session.id)
    // their responses could have come on another stream
    const lost = session.clientRequests.takeOrphaned().map((request) => this.#serverRelay.settle(request, 'lost', null))
    const ends = await Promise.allSettled([session.link.end(), approvals.expireSession(session.id), ...lost])
    for (const end of ends) if (end.status === 'rejected') gateway.fault(end.reason, 'mcp:end')
  }

  /** Expires approvals of calls to tools whose definition has changed. */
  async #expireChanged(): Promise<void> {
    const { gateway, server, approvals, tools, list_cache, isLocal } = this.#context
    const fingerprint = tools.serverFingerprint()
    if (fingerprint === list_cache.fingerprint) return
    list_cache.fingerprint = fingerprint
    try {
      await approvals.expireTools(server.id, isLocal, (tool) => tools.fingerprint(tool))
    } catch (error) {
      gateway.fault(error, 'mcp:approvals')
    }
  }

  async #rewriteList(page: string): Promise<string> {
    const { gateway, server, policies, list_cache } = this.#context
    await this.#expireChanged()
    const policy = await policies.current()
    const audience = policy.audience(this.session.caller)
    const rewritten = cachedPage(list_cache, policy, audience, page) ?? this.#rewrite(policy, audience, page)
    this.session.visible = await this.#view()
    const { list } = mcpHooks(gateway)
    const destination = { direction: 'to_client', server_id: server.id, session_id: this.session.id } as const
    return list.isUsed() ? list.call(rewritten, destination) : rewritten
  }

  #rewrite(policy: Policy, audience: string, page: string): string {
    const { server, tools, list_cache } = this.#context
    const { caller } = this.session
    const view = {
      hidden: policy.hidden(server.id, caller),
      canConfirm: (tool: string) => policy.canConfirm(server.id, tool, caller),
    }
    const rewritten = tools.rewrite(page, view)
    list_cache.page = { policy, audience, page, rewritten }
    return rewritten
  }

  /** What of the server's tools the policy hides or widens, as one text. */
  async #view(): Promise<string> {
    const { server, policies, tools } = this.#context
    const policy = await policies.current()
    const { caller } = this.session
    const hidden = policy.hidden(server.id, caller)
    const marks = [...tools.names()].map((tool) => [tool, hidden(tool), policy.canConfirm(server.id, tool, caller)])
    return JSON.stringify(marks)
  }

  /** The policy has changed: a client that would see another list gets a notification. */
  async policyChanged(): Promise<void> {
    const { session } = this
    if (session.visible === '' || !session.announcesTools) return
    const view = await this.#view()
    if (view === session.visible) return
    session.visible = view
    session.emit(LIST_CHANGED)
  }
}
