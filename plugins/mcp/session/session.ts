import type { Gateway } from 'guard-gateway/core'
import { newKey } from '#lib/ids'
import type { Frame } from '#lib/json-rpc'
import {
  type McpLink,
  type McpLogin,
  type McpReply,
  type McpServer,
  type McpSession,
  mcpTransportKind,
  type PassedHeaders,
} from '#lib/mcp-transport'
import type { Connections, UpstreamAddress } from '#lib/upstream-client'
import type { SessionLog } from '../audit/index.ts'
import { connectionsOf } from '../connections.ts'
import type { Caller } from '../judge/tool-call.ts'
import type { McpLimits } from '../options.ts'
import type { OutgoingMessage } from '../relay/response.ts'
import { PendingRequests } from './pending-requests.ts'
import { SendOrder, type Turn } from './send-order.ts'

/** What a project or an agent is called; no browser reaches a page of `.` or `..`. */
export const NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/

/** How a client is connected, and who it is. */
export interface SessionInfo {
  /** `http`, `stdio`, or `memory` for a client inside this process. */
  readonly client_transport: string
  /** The client has one stream for everything. */
  readonly merged: boolean
  /** The key that opened it; no other key may use it. */
  readonly owner: string
  readonly project_id: string
  readonly agent_id: string | null
  /** The agent of that key; null or absent: it is of none. */
  readonly key_agent_id?: string | null
  /** The session of the client's own that it belongs to, as the client names it. */
  readonly external_session_id: string | null
  /** Id and name of the key that opened it; absent: none was shown. */
  readonly key_names?: readonly string[]
  /** The projects that the client may read records of; null or absent: all. */
  readonly projects?: readonly string[] | null
  readonly origin?: 'mcp' | 'playground'
  notice(text: string): void
  stderr(bytes: Buffer): void
  /** The session ends. */
  ended?(reason: string): void
}

/** The state of one client at one server: pending requests, and what both sides said at `initialize`. */
export class Session implements McpSession {
  readonly id = newKey('mcp_')
  readonly server: McpServer
  readonly about: SessionInfo
  readonly frame_bytes: number
  /** Requests of the client that wait for a response. */
  readonly clientRequests: PendingRequests
  /** Requests of the server that wait for a response. */
  readonly serverRequests: PendingRequests
  /** The order of the client's messages, where the client has one stream for everything. */
  readonly order: SendOrder | undefined
  readonly dropCounts = new Map<string, number>()
  protocol_version: string | undefined
  /** The server sends a notification when its list of tools changes. */
  announcesTools = false
  /** A text that changes when the policy shows the client another list of tools; empty before the first list. */
  visible = ''
  ended = false
  /** Set before the link is opened. */
  login?: McpLogin
  /** Streams that are open to the client. */
  streams = 0
  /** Monotonic, milliseconds. */
  used: number
  #client: { readonly name: string; readonly version: string } | null = null
  #caller: Caller
  #link: McpLink | undefined
  #unsent: string | undefined
  #log: SessionLog | undefined
  readonly #gateway: Gateway
  readonly #listeners = new Set<(out: OutgoingMessage) => void>()

  constructor(gateway: Gateway, server: McpServer, about: SessionInfo, limits: McpLimits) {
    this.#gateway = gateway
    this.server = server
    this.about = about
    this.frame_bytes = limits.frame_bytes
    this.clientRequests = new PendingRequests(limits.pending)
    this.serverRequests = new PendingRequests(limits.pending)
    this.order = about.merged ? new SendOrder() : undefined
    this.used = gateway.clock.tick()
    const { agent_id: agent, project_id: project, external_session_id: session, key_names: key = [] } = about
    this.#caller = { agent, project, session, client: null, key }
  }

  get client(): { readonly name: string; readonly version: string } | null {
    return this.#client
  }
  set client(client: { readonly name: string; readonly version: string } | null) {
    this.#client = client
    this.#caller = { ...this.#caller, client: client?.name ?? null }
  }

  /** Who makes the calls of this session. */
  get caller(): Caller {
    return this.#caller
  }

  get merged(): boolean {
    return this.about.merged
  }

  get projects(): readonly string[] | null {
    return this.about.projects ?? null
  }

  get link(): McpLink {
    if (this.#link === undefined) throw new Error('The session has no link yet.')
    return this.#link
  }
  set link(link: McpLink) {
    this.#link = link
  }

  get log(): SessionLog {
    if (this.#log === undefined) throw new Error('The session has no records yet.')
    return this.#log
  }
  set log(log: SessionLog) {
    this.#log = log
  }

  /** Sends a message to the server when it is its turn. */
  post(frame: Frame, passed: PassedHeaders, turn?: Turn): Promise<McpReply> {
    return turn === undefined ? this.link.post(frame, passed) : turn.take(() => this.link.post(frame, passed))
  }

  /** Counts a stream that is open to the client, until the returned function is called. */
  use(): () => void {
    this.streams++
    let open = true
    return () => {
      if (open) this.streams--
      open = false
    }
  }

  touch(): void {
    this.used = this.#gateway.clock.tick()
  }

  connect(address: UpstreamAddress): Connections {
    return connectionsOf(this.#gateway).to(address)
  }

  async open(transport: string, server: McpServer): Promise<McpLink> {
    return this.#gateway.registry(mcpTransportKind).need(transport).open(server, this)
  }

  notice(text: string): void {
    this.about.notice(text)
  }
  stderr(bytes: Buffer): void {
    this.about.stderr(bytes)
  }
  dropped(reason: string): void {
    this.dropCounts.set(reason, (this.dropCounts.get(reason) ?? 0) + 1)
  }

  /** Gives the proxy's own messages to a listener until the returned function is called. */
  listen(listener: (out: OutgoingMessage) => void): () => void {
    this.#listeners.add(listener)
    if (this.#unsent !== undefined) listener({ message: this.#unsent })
    this.#unsent = undefined
    return () => this.#listeners.delete(listener)
  }

  /** Sends a message of the proxy on one open stream. Without an open stream the last message waits for one. */
  emit(message: string): void {
    const [listener] = this.#listeners
    if (listener === undefined) this.#unsent = message
    else listener({ message })
  }
}

/** The frame with other text. */
export const withText = (frame: Frame, text: string): Frame => ({ ...frame, text, raw: Buffer.from(text) })
