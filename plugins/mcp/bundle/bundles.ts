import { GuardError } from 'guard-gateway/core'
import { newKey } from '#lib/ids'
import type { Frame, FrameFault } from '#lib/json-rpc'
import type { PassedHeaders } from '#lib/mcp-transport'
import type { AuditEvent } from '../audit/event-row.ts'
import { type ClientResponse, errorResponse, type OutgoingMessage, resultResponse } from '../relay/response.ts'
import type { ClientSession, Door } from '../session/client-session.ts'
import type { SessionInfo } from '../session/session.ts'
import { Bundle, type BundleContext } from './bundle.ts'
import { BundleRelay } from './bundle-relay.ts'
import { readEventId } from './event-ids.ts'
import { commonVersion, initializeAnswer } from './initialize.ts'
import { listChanged } from './kinds.ts'
import { BundleLists } from './lists.ts'
import { Member, type MemberHost } from './member.ts'
import { Routing } from './routing.ts'
import { PendingTokens, ServerRequests } from './server-requests.ts'
import { Setup } from './setup.ts'
import { SharedStream } from './shared-stream.ts'
import { ToClient } from './to-client.ts'
import { together } from './within.ts'

/** The bundle of all configured servers, which is there without a word in the configuration. */
export const ALL = 'all'
const SWEEP_MS = 5_000

/** The bundles of a gateway, and the sessions of their clients. */
export class Bundles implements Iterable<Bundle> {
  readonly #context: BundleContext
  readonly #bundles = new Map<string, Bundle>()
  readonly #sessions = new Map<string, BundleSession>()
  #timer: NodeJS.Timeout | undefined

  /** Throws INVALID_CONFIG for a bundle of servers that there are not. */
  constructor(context: BundleContext) {
    this.#context = context
    const { bundles = {} } = context.options
    for (const [id, options] of Object.entries({ [ALL]: {}, ...bundles })) {
      if (context.configuredIds().includes(id) && Object.hasOwn(bundles, id))
        throw new GuardError(
          'INVALID_CONFIG',
          `An MCP server and a bundle are both called "${id}". Rename one of them.`,
        )
      const bundle = new Bundle(context, id, options)
      const unknown = bundle.server_ids.find((server_id) => context.serverState(server_id) === undefined)
      if (unknown !== undefined)
        throw new GuardError(
          'INVALID_CONFIG',
          `The bundle "${id}" names the MCP server "${unknown}", which is none of mcp.servers.`,
        )
      this.#bundles.set(id, bundle)
    }
  }

  [Symbol.iterator](): IterableIterator<Bundle> {
    return this.#bundles.values()
  }

  /** Those with servers in them. */
  get ids(): readonly string[] {
    return [...this.#bundles.values()].filter(({ server_ids }) => server_ids.length > 0).map(({ id }) => id)
  }

  get health(): { readonly bundle_sessions: number; readonly missing: readonly string[] } {
    const sessions = [...this.#sessions.values()]
    const missing = sessions.flatMap(({ members }) =>
      members.filter((one) => one.missing !== undefined).map(({ id }) => id),
    )
    return { bundle_sessions: sessions.length, missing: [...new Set(missing)] }
  }

  get sessions(): Iterable<BundleSession> {
    return this.#sessions.values()
  }

  sessionsOf(bundle: Bundle): readonly BundleSession[] {
    return [...this.#sessions.values()].filter((session) => session.bundle === bundle)
  }

  /** Undefined if there is no such bundle, or nothing in it. */
  door(id: string): Door<BundleSession> | undefined {
    const bundle = this.#bundles.get(id)
    if (bundle === undefined || bundle.server_ids.length === 0) return undefined
    return {
      id,
      open: async (about) => this.#open(bundle, about),
      find: (session_id, owner) => {
        const session = this.#sessions.get(session_id)
        return session?.owner === owner && session.bundle === bundle && !session.ended ? session : undefined
      },
      end: (session, reason) => this.#end(session, reason),
    }
  }

  #open(bundle: Bundle, about: SessionInfo): BundleSession {
    const { sessions: limit } = this.#context.limits
    if (this.#sessions.size >= limit) this.#makeRoom(limit)
    const session = new BundleSession(this.#context, bundle, about)
    this.#sessions.set(session.id, session)
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref()
    return session
  }

  #makeRoom(limit: number): void {
    let oldest: BundleSession | undefined
    for (const session of this.#sessions.values())
      if (!session.isBusy && session.used < (oldest?.used ?? Number.POSITIVE_INFINITY)) oldest = session
    if (oldest === undefined)
      throw new GuardError('OVERLOADED', `As many MCP sessions are at work as may be: ${limit}.`, {
        headers: { 'retry-after': '5' },
      })
    this.#end(oldest, 'too many sessions')
  }

  #end(session: BundleSession, reason: string): void {
    this.#sessions.delete(session.id)
    session.end(reason)
  }

  /** Ends sessions that are idle for too long, and looks for servers that are not there. */
  sweep(): void {
    const now = this.#context.gateway.clock.tick()
    for (const session of this.#sessions.values()) {
      if (session.ended) this.#sessions.delete(session.id)
      else if (session.streams === 0 && now - session.used >= this.#context.idle_ms) this.#end(session, 'idle')
      else session.retry()
    }
  }

  endAll(reason: string): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const session of [...this.#sessions.values()]) this.#end(session, reason)
  }
}

const INTERNAL = -32603
const INVALID_REQUEST = -32600
const LISTED = ['tools', 'prompts', 'resources'] as const

/** One client of a bundle: one session in front, and behind it one at each server. */
class BundleSession implements ClientSession, MemberHost {
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
  readonly #context: BundleContext
  readonly #relay: BundleRelay
  readonly #setup: Setup
  readonly #toClient: ToClient
  readonly #requests = new ServerRequests()
  readonly #tokens = new PendingTokens()
  readonly #own = new OwnMessages()
  readonly #shared = new Set<SharedStream>()
  #begun = false

  constructor(context: BundleContext, bundle: Bundle, about: SessionInfo) {
    this.#context = context
    this.bundle = bundle
    this.owner = about.owner
    // its members' sessions are nobody's who could name them
    this.about = { ...about, owner: `bundle ${this.id}` }
    this.frame_bytes = context.limits.frame_bytes
    this.used = context.gateway.clock.tick()
    this.members = bundle.servers.map(({ state, naming }) => new Member(context, this, state, naming))
    this.log = { event: (event) => context.audit.event({ ...event, server_id: bundle.id }) }
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

  onMessage(member: Member, out: OutgoingMessage): void {
    const translated = this.#toClient.take(member, out)
    if (translated?.message !== undefined) this.#own.emit(String(translated.message))
  }

  opened(member: Member): void {
    if (this.version === undefined) return
    this.#say(`The MCP server "${member.id}" is there.`, 'info')
    this.#emitChanged(member)
    for (const stream of this.#shared) void stream.add(member)
    this.#setup.repeat(member).catch((error: unknown) => this.#context.gateway.fault(error, 'mcp:bundle'))
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
    const params = { level, logger: 'guard', data: this.#context.gateway.redact.text(text) }
    this.#own.emit(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }))
  }

  async #take(came: Frame | FrameFault, passed: PassedHeaders = {}): Promise<ClientResponse> {
    this.used = this.#context.gateway.clock.tick()
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
      this.#context.gateway.fault(error, 'mcp:bundle')
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
    return errorResponse(502, id, INTERNAL, this.#context.gateway.redact.text(reason), 'UPSTREAM_UNREACHABLE')
  }

  async #listen(lastEventId: string | undefined, passed: PassedHeaders = {}): Promise<ClientResponse> {
    this.used = this.#context.gateway.clock.tick()
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
        const translated = toClient.take(member, out)
        if (translated !== undefined) yield translated
      }
    }
    return { ...heard, events: each() }
  }
}

/** How many messages wait for a client that does not listen. */
const MAX_UNSENT = 64

/** Messages to a client that belong to no request: they go to one open stream, and wait where there is none. */
class OwnMessages {
  readonly #listeners = new Set<(out: OutgoingMessage) => void>()
  /** Each text once: that a list has changed need not be said twice. */
  readonly #unsent = new Set<string>()

  /** Gives messages to a listener until the returned function is called. */
  listen(listener: (out: OutgoingMessage) => void): () => void {
    this.#listeners.add(listener)
    for (const message of this.#unsent) listener({ message })
    this.#unsent.clear()
    return () => this.#listeners.delete(listener)
  }

  emit(message: string): void {
    const [listener] = this.#listeners
    if (listener !== undefined) listener({ message })
    else this.#keep(message)
  }

  #keep(message: string): void {
    this.#unsent.add(message)
    const [oldest = ''] = this.#unsent
    if (this.#unsent.size > MAX_UNSENT) this.#unsent.delete(oldest)
  }
}
