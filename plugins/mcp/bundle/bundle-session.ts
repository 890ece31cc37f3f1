import { newKey } from 'guard-gateway/lib/ids'
import type { Frame, FrameFault } from 'guard-gateway/lib/json-rpc'
import type { PassedHeaders } from 'guard-gateway/lib/mcp-transport'
import type { AuditEvent } from '../audit/event-row.ts'
import type { Mcp } from '../mcp.ts'
import { type ClientResponse, errorResponse, type OutgoingMessage, resultResponse } from '../relay/response.ts'
import type { ClientSession } from '../session/client-session.ts'
import type { SessionInfo } from '../session/session.ts'
import type { Bundle } from './bundle.ts'
import { BundleRelay } from './bundle-relay.ts'
import { readEventId } from './event-ids.ts'
import { commonVersion, initializeAnswer } from './initialize.ts'
import { listChanged } from './kinds.ts'
import { BundleLists } from './lists.ts'
import { Member, type MemberHost } from './member.ts'
import { OwnMessages } from './own-messages.ts'
import { PendingTokens } from './pending-tokens.ts'
import { Routing } from './routing.ts'
import { ServerRequests } from './server-requests.ts'
import { Setup } from './setup.ts'
import { SharedStream } from './shared-stream.ts'
import { ToClient } from './to-client.ts'
import { together } from './within.ts'

const INTERNAL = -32603
const INVALID_REQUEST = -32600
const LISTED = ['tools', 'prompts', 'resources'] as const

/** One client of a bundle: one session in front, and behind it one at each server. */
export class BundleSession implements ClientSession, MemberHost {
  readonly id = newKey('mcp_')
  readonly bundle: Bundle
  readonly members: readonly Member[]
  readonly about: SessionInfo
  readonly owner: string
  readonly clientRelay: ClientSession['clientRelay']
  readonly frame_bytes: number
  readonly log: { event(event: AuditEvent): void }
  version: string | undefined
  ended = false
  /** Streams that are open to the client. */
  streams = 0
  /** Monotonic, milliseconds. */
  used: number
  readonly #mcp: Mcp
  readonly #relay: BundleRelay
  readonly #setup: Setup
  readonly #toClient: ToClient
  readonly #requests = new ServerRequests()
  readonly #tokens = new PendingTokens()
  readonly #own = new OwnMessages()
  readonly #shared = new Set<SharedStream>()
  #begun = false

  constructor(mcp: Mcp, bundle: Bundle, about: SessionInfo) {
    this.#mcp = mcp
    this.bundle = bundle
    this.owner = about.owner
    // its members' sessions are nobody's who could name them
    this.about = { ...about, owner: `bundle ${this.id}` }
    this.frame_bytes = mcp.limits.frame_bytes
    this.used = mcp.gateway.clock.tick()
    this.members = bundle.servers.map(({ state, naming }) => new Member(mcp, this, state, naming))
    this.log = { event: (event) => mcp.audit.event({ ...event, server_id: bundle.id }) }
    this.#setup = new Setup(this.members, bundle.wait_ms)
    this.#toClient = new ToClient(this.#requests, this.#tokens)
    const host = { say: (text: string) => this.#say(text), emit: (message: string) => this.#own.emit(message) }
    const lists = new BundleLists(bundle, this.members, () => routing, host)
    const routing = new Routing(bundle, this.members, (kind, members) => lists.read(kind, members))
    this.#relay = new BundleRelay({
      ...{ bundle, members: this.members, routing, lists, setup: this.#setup },
      ...{ requests: this.#requests, tokens: this.#tokens, toClient: this.#toClient },
    })
    this.clientRelay = {
      take: (frame, passed) => this.#take(frame, passed),
      listen: (lastEventId, passed) => this.#listen(lastEventId, passed),
      // each member's relay answers what waits for it
      abandon: () => [],
    }
  }

  get session(): ClientSession['session'] {
    return this
  }

  get isBusy(): boolean {
    return this.streams > 0 || this.#tokens.size > 0
  }

  use(): () => void {
    this.streams++
    let open = true
    return () => {
      if (open) this.streams--
      open = false
    }
  }

  listen(listener: (out: OutgoingMessage) => void): () => void {
    return this.#own.listen(listener)
  }

  said(member: Member, out: OutgoingMessage): void {
    const told = this.#toClient.take(member, out)
    if (told?.message !== undefined) this.#own.emit(String(told.message))
  }

  opened(member: Member): void {
    if (this.version === undefined) return
    this.#say(`The MCP server "${member.id}" is there.`, 'info')
    this.#emitChanged(member)
    for (const stream of this.#shared) void stream.add(member)
    this.#setup.repeat(member).catch((error: unknown) => this.#mcp.gateway.fault(error, 'mcp:bundle'))
  }

  lost(member: Member): void {
    this.#requests.forget(member)
    this.#say(`The MCP server "${member.id}" is not there any more: ${member.missing}`)
    this.#emitChanged(member)
  }

  /** Tries again to open sessions at servers that are not there, while a client listens that can be told. */
  retry(): void {
    if (this.version === undefined || this.#shared.size === 0) return
    for (const member of this.members) if (member.missing !== undefined) void member.ready()
  }

  /** Ends the session and those behind it. */
  end(reason: string): void {
    if (this.ended) return
    this.ended = true
    for (const stream of [...this.#shared]) stream.stop()
    for (const member of this.members) member.end(reason)
  }

  #emitChanged(member: Member): void {
    for (const capability of LISTED) if (member.has(capability)) this.#own.emit(listChanged(capability))
  }

  /** Tells the client as a log message. */
  #say(text: string, level = 'warning'): void {
    if (!this.#setup.wants(level)) return
    const params = { level, logger: 'guard', data: this.#mcp.gateway.redact.text(text) }
    this.#own.emit(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }))
  }

  async #take(came: Frame | FrameFault, passed: PassedHeaders = {}): Promise<ClientResponse> {
    this.used = this.#mcp.gateway.clock.tick()
    if (came.kind === 'fault') return this.#invalidFrame(came)
    const { id, method = '', kind } = came
    try {
      if (kind === 'request' && method === 'initialize') return await this.#initialize(came, passed)
      if (kind === 'request' && (method.startsWith('tasks/') || method === 'server/discover'))
        return errorResponse(200, id, -32601, `The method ${method} is not served.`)
      if (kind === 'request' && this.version === undefined && method !== 'ping')
        return errorResponse(400, id, INVALID_REQUEST, 'A session begins with initialize.')
      return await this.#relay.take(came, passed)
    } catch (error) {
      this.#mcp.gateway.fault(error, 'mcp:bundle')
      return errorResponse(500, id, INTERNAL, 'The gateway failed on this message.', 'INTERNAL')
    }
  }

  #invalidFrame({ code, message, id, silent = false }: FrameFault): ClientResponse {
    const event = { kind: 'refusal', name: 'frame.refused', reason: message } as const
    this.log.event(id === undefined ? event : { ...event, request_id: id })
    if (silent && this.about.merged) return { form: 'none', status: 400 }
    return errorResponse(400, id, code, message)
  }

  /** Opens a session at each member. Those that are late join the others when they are there. */
  async #initialize(frame: Frame, passed: PassedHeaders): Promise<ClientResponse> {
    const { id = '' } = frame
    if (this.#begun) return errorResponse(400, id, INVALID_REQUEST, 'The session has begun already.')
    this.#begun = true
    const isThere = ({ facts }: Member) => facts !== undefined
    const opening = this.members.map((member) => member.open(frame, passed).then(() => isThere(member)))
    await together(opening, Boolean, this.bundle.wait_ms)
    const version = commonVersion(this.members)
    if (version === undefined) return this.#noServer(id)
    this.version = version
    const again = this.members.map((member) => member.openAt(version).then(() => isThere(member)))
    await together(again, Boolean, this.bundle.wait_ms)
    if (!this.members.some(isThere)) return this.#noServer(id)
    for (const member of this.members)
      if (member.facts === undefined && member.missing !== undefined)
        this.#say(`The MCP server "${member.id}" is not there: ${member.missing}`)
    return resultResponse(initializeAnswer(id, this.bundle.id, this.members, version))
  }

  #noServer(id: string): ClientResponse {
    const why = this.members.map((member) => `"${member.id}": ${member.missing ?? 'no answer'}`).join(' ')
    this.end('no server of the bundle is there')
    const reason = `No server of the bundle "${this.bundle.id}" could be opened. ${why}`
    return errorResponse(502, id, INTERNAL, this.#mcp.gateway.redact.text(reason), 'UPSTREAM_UNREACHABLE')
  }

  async #listen(lastEventId: string | undefined, passed: PassedHeaders = {}): Promise<ClientResponse> {
    this.used = this.#mcp.gateway.clock.tick()
    const resumed = lastEventId === undefined ? { isShared: true, after: {} } : readEventId(lastEventId)
    if (resumed === undefined)
      return errorResponse(400, undefined, INVALID_REQUEST, 'No stream of this bundle has had an event of this id.')
    if (!resumed.isShared) return this.#resumed(resumed.after, passed)
    const shared = new SharedStream(this.#toClient, passed, resumed.after, (one) => this.#shared.delete(one))
    this.#shared.add(shared)
    for (const member of this.members) void shared.add(member)
    return shared.answer
  }

  /** The stream of one request, taken up again. */
  async #resumed(after: Readonly<Record<string, string>>, passed: PassedHeaders): Promise<ClientResponse> {
    const [[id, last] = ['', '']] = Object.entries(after)
    const running = await this.members.find((member) => member.id === id)?.ready()
    const member = this.members.find((one) => one.id === id)
    if (running === undefined || member === undefined) return { form: 'none', status: 405 }
    const heard = await running.clientRelay.listen(last, passed)
    if (heard.form !== 'sse') return heard
    const { events } = heard
    const toClient = this.#toClient
    const each = async function* () {
      for await (const out of events) {
        const told = toClient.take(member, out)
        if (told !== undefined) yield told
      }
    }
    return { ...heard, events: each() }
  }
}
