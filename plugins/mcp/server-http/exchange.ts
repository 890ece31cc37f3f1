import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Gateway, GuardError, type Identity } from 'guard-gateway/core'
import { headerText, requestErrors, requestIdentities } from '#lib/http'
import { storedId } from '#lib/ids'
import { type Frame, type FrameFault, readFrame } from '#lib/json-rpc'
import type { PassedHeaders } from '#lib/mcp-transport'
import { everyProject } from '#lib/principal'
import { isSessionName } from '#lib/session'
import { messageEvent } from '#lib/sse'
import { mcpErrors } from '../error-codes.ts'
import type { Mcp } from '../mcp.ts'
import { versions } from '../messages/initialize.ts'
import { GATEWAY_KEY } from '../policy/known-keys.ts'
import { type ClientResponse, errorResponse, type OutgoingMessage } from '../relay/response.ts'
import type { ClientSession, Door } from '../session/client-session.ts'
import { NAME, type SessionInfo } from '../session/session.ts'
import { corsHeaders } from './cors.ts'
import { numberOf } from './errors.ts'

const ONE_WRITE = 16_384
const EMPTY = Buffer.alloc(0)
const EVENT_STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' } as const
const PASSED_HEADERS = ['user-agent', 'accept-language', 'traceparent', 'tracestate'] as const

/** One request of the transport, whose caller, server, verb and media types are fine. */
export class Exchange {
  readonly #mcp: Mcp
  readonly #door: Door
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #identity: Identity | undefined

  constructor(mcp: Mcp, door: Door, request: FastifyRequest, reply: FastifyReply) {
    this.#mcp = mcp
    this.#door = door
    this.#request = request
    this.#reply = reply
    this.#identity = requestIdentities.get(request.raw)
  }

  /** Answers a request that brings no message. */
  async answer(): Promise<void> {
    this.#checkVersion()
    const running = this.#needSession()
    if (this.#request.method === 'GET') return this.#listen(running)
    this.#door.end(running, 'the client ended it')
    this.#send({ form: 'none', status: 200 })
  }

  /** Answers one that brings a message. */
  async post(body: Buffer): Promise<void> {
    const frame = readFrame(body, 'client')
    if (frame.kind === 'fault') return this.#invalidFrame(frame)
    try {
      this.#checkVersion()
      if (frame.method === 'initialize' && frame.kind === 'request') return await this.#initialize(frame)
      const running = this.#needSession()
      await this.#finish(running, await this.#relayed(running, frame))
    } catch (error) {
      if (!(error instanceof GuardError) || this.#reply.sent) throw error
      requestErrors.set(this.#request.raw, error)
      const { status, code, message, place } = error
      this.#send(errorResponse(status, frame.id, numberOf(code), message, code, place.headers))
    }
  }

  #invalidFrame({ code, message, id }: FrameFault): void {
    const fields = { kind: 'refusal', name: 'frame.refused', reason: message } as const
    const event = id === undefined ? fields : { ...fields, request_id: id }
    const log = this.#findSession()?.session.log
    if (log === undefined) this.#mcp.audit.event({ ...event, server_id: this.#door.id })
    else log.event(event)
    this.#send(errorResponse(400, id, code, message))
  }

  /** Waits for a session's answer; meanwhile the session is in use, as long as the client is there. */
  async #relayed({ session, clientRelay }: ClientSession, frame: Frame): Promise<ClientResponse> {
    const { raw } = this.#reply
    const leave = session.use()
    raw.on('close', leave)
    try {
      return await clientRelay.take(frame, this.#passedHeaders())
    } finally {
      raw.off('close', leave)
      leave()
    }
  }

  async #initialize(frame: Frame): Promise<void> {
    const running = await this.#openSession()
    const { raw } = this.#reply
    // no client will learn its id
    const leave = () => this.#door.end(running, 'the client left')
    if (raw.destroyed) leave()
    else raw.once('close', leave)
    const answer = await this.#relayed(running, frame)
    raw.off('close', leave)
    const { id, ended } = running.session
    await this.#finish(running, answer, ended ? {} : { 'mcp-session-id': id })
  }

  async #openSession(): Promise<ClientSession> {
    return this.#door.open(await sessionInfo(this.#mcp.gateway, this.#request.headers, this.#identity))
  }

  async #listen(running: ClientSession): Promise<void> {
    const last = this.#request.headers['last-event-id']
    const answer = await running.clientRelay.listen(typeof last === 'string' ? last : undefined, this.#passedHeaders())
    if (answer.form === 'none') {
      return this.#send(
        errorResponse(405, undefined, -32000, 'The server offers no stream of its own.', 'METHOD_NOT_ALLOWED'),
      )
    }
    if (answer.form === 'json' || last !== undefined) return this.#finish(running, answer)
    const raw = this.#head(200, {})
    const unlisten = running.session.listen(({ message = '' }) => void raw.write(messageEvent(String(message))))
    try {
      await this.#pump(raw, running, answer)
    } finally {
      unlisten()
    }
  }

  async #finish(
    running: ClientSession,
    answer: ClientResponse,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    if (answer.form !== 'sse') this.#send(answer, headers)
    else if ('length' in answer.events) this.#sendEvents(answer.events, headers)
    else await this.#pump(this.#head(200, headers), running, answer)
  }

  /** No call ends with a stream that was only listened to, so its client may leave it at any time. */
  #pump(raw: ServerResponse, { session }: ClientSession, answer: ClientResponse & { form: 'sse' }): Promise<void> {
    return pump(raw, session, answer, this.#request.method === 'GET')
  }

  /** Sends the head of an event stream at once. */
  #head(status: number, headers: Readonly<Record<string, string>>): ServerResponse {
    this.#reply.hijack()
    const { raw } = this.#reply
    raw.writeHead(status, {
      ...EVENT_STREAM,
      ...this.#common(),
      ...headers,
    })
    raw.flushHeaders()
    return raw
  }

  #common() {
    return { 'x-guard-request-id': this.#request.id, ...corsHeaders(this.#request) }
  }

  #send(answer: Exclude<ClientResponse, { form: 'sse' }>, more: Readonly<Record<string, string>> = {}): void {
    this.#reply.hijack()
    const { raw } = this.#reply
    const headers = { ...this.#common(), ...more }
    if (answer.form === 'none') {
      raw.writeHead(answer.status, { ...headers, 'content-length': 0 }).end()
      return
    }
    const { status, message } = answer
    sendWhole(raw, status, message, { 'content-type': 'application/json', ...headers, ...answer.headers })
  }

  /** Sends an event stream that is there to its end. */
  #sendEvents(events: readonly OutgoingMessage[], headers: Readonly<Record<string, string>>): void {
    this.#reply.hijack()
    const [first, ...more] = events.map(eventBytes)
    const bytes = first !== undefined && more.length === 0 ? first : Buffer.concat([first ?? EMPTY, ...more])
    sendWhole(this.#reply.raw, 200, bytes, { ...EVENT_STREAM, ...this.#common(), ...headers })
  }

  #checkVersion(): void {
    const version = this.#request.headers['mcp-protocol-version']
    if (version === undefined || versions.includes(String(version))) return
    throw new GuardError(
      mcpErrors.PROTOCOL_VERSION,
      `This revision of MCP is not served. There is ${versions.join(', ')}.`,
    )
  }

  /** The session that the request names. Throws SESSION_REQUIRED, MCP_SESSION_NOT_FOUND. */
  #needSession(): ClientSession {
    const running = this.#findSession()
    if (running !== undefined) return running
    throw new GuardError(
      'mcp-session-id' in this.#request.headers ? mcpErrors.MCP_SESSION_NOT_FOUND : mcpErrors.SESSION_REQUIRED,
    )
  }

  #findSession(): ClientSession | undefined {
    const id = this.#request.headers['mcp-session-id']
    return typeof id === 'string' ? this.#door.find(id, ownerOf(this.#identity)) : undefined
  }

  #passedHeaders(): PassedHeaders {
    const passed: Record<string, string> = {}
    for (const name of PASSED_HEADERS) {
      const value = this.#request.headers[name]
      if (typeof value === 'string' && !this.#mcp.gateway.secrets.holds(value)) passed[name] = value
    }
    return passed
  }
}

/** Sends an answer of known length; text whose characters are its bytes goes out in one piece with the head. */
const sendWhole = (
  raw: ServerResponse,
  status: number,
  message: Buffer | string,
  headers: Readonly<Record<string, string>>,
): void => {
  raw.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(message) })
  if (typeof message !== 'string' && message.length <= ONE_WRITE) raw.end(message.toString('latin1'), 'latin1')
  else raw.end(message)
}

/** How long a call continues for its records after its client has disconnected. */
const DRAIN_MS = 300_000

/** An event as it came, or one that holds the message. */
const eventBytes = ({ event, message }: OutgoingMessage): Buffer =>
  event ?? Buffer.from(messageEvent(typeof message === 'string' ? message : (message?.toString() ?? '')))

const isGone = (response: ServerResponse): boolean => response.destroyed || response.writableEnded

/** Writes the messages of a stream as they come; the server is made to wait while the client does not read. `resumable`: from the first event on. */
const pump = async (
  response: ServerResponse,
  session: Pick<ClientSession['session'], 'use'>,
  { events, stop }: ClientResponse & { form: 'sse' },
  resumable = false,
): Promise<void> => {
  const leave = session.use()
  const gone = clientCloses(response, () => resumable, stop)
  try {
    for await (const out of events) {
      resumable ||= out.resumable === true
      if (isGone(response)) continue
      if (!response.write(eventBytes(out))) await Promise.race([once(response, 'drain'), gone.left])
    }
  } finally {
    gone.over()
    leave()
    response.end()
  }
}

/**
 * What happens when the client closes its connection: a stream that can be taken up again is let go,
 * any other is read to its end, so that the tool ends as it would and its outcome is known.
 */
const clientCloses = (response: ServerResponse, resumable: () => boolean, stop: () => void) => {
  let timer: NodeJS.Timeout | undefined
  const { promise: left, resolve } = Promise.withResolvers<void>()
  const onClose = () => {
    resolve()
    if (resumable()) stop()
    else timer = setTimeout(stop, DRAIN_MS).unref()
  }
  if (response.destroyed) onClose()
  else response.once('close', onClose)
  const over = () => {
    clearTimeout(timer)
    response.off('close', onClose)
  }
  return { left, over }
}

const isName = (text: string): boolean => NAME.test(text)

/** The key that opened a session: no other agent key may use it. */
const ownerOf = (identity: Identity | undefined): string => identity?.key_id ?? 'gateway'

/** How a session of the HTTP server is labelled: by the headers of its first request, and by the agent of its key. Throws INVALID_HEADER. */
const sessionInfo = async (
  gateway: Gateway,
  headers: IncomingHttpHeaders,
  identity: Identity | undefined,
): Promise<SessionInfo> => {
  const named = (header: string, isAllowed: (text: string) => boolean): string | undefined => {
    const sent = headers[header]
    if (sent === undefined) return
    const value = typeof sent === 'string' ? headerText(sent) : ''
    const stored = isAllowed(value) ? storedId(value, gateway.redact) : undefined
    if (stored !== undefined) return stored
    throw new GuardError('INVALID_HEADER', `The header ${header} cannot be used as an id.`, { path: header })
  }
  const key_names = identity === undefined ? [] : await keyNames(gateway, identity)
  const agent_id = identity?.agent_id ?? named('x-guard-agent-id', isName) ?? null
  const agent = agent_id === null ? undefined : await gateway.storage.get('agents', agent_id)
  return {
    client_transport: 'http',
    merged: false,
    owner: ownerOf(identity),
    key_names,
    project_id: named('x-guard-project-id', isName) ?? agent?.project_id ?? 'default',
    agent_id,
    key_agent_id: identity?.agent_id ?? null,
    projects: readableProjects(identity, agent?.project_id),
    external_session_id:
      named('x-guard-session-id', isSessionName) ?? named('x-client-session-id', isSessionName) ?? null,
    notice: (text) => gateway.fault(new Error(text), 'mcp'),
    stderr: () => {},
  }
}

/** What policies may call a key: its id, and the name that a key with scopes has. */
const keyNames = async (gateway: Gateway, { key_id, agent_id }: Identity): Promise<readonly string[]> => {
  if (key_id === null) return [GATEWAY_KEY]
  if (agent_id !== null || !gateway.storage.has('access_keys')) return [key_id]
  const row = await everyProject(() => gateway.storage.get('access_keys', key_id))
  return row === undefined ? [key_id] : [key_id, row.name]
}

/** The projects whose records a key may read: those that it is bound to; without the scope \`read\`, that of its agent; of the gateway's own key all. */
const readableProjects = (
  identity: Identity | undefined,
  agents: string | null | undefined,
): readonly string[] | null => {
  if (identity?.projects) return identity.projects
  const isAgents = identity !== undefined && identity.key_id !== null && identity.scopes?.has('read') !== true
  return isAgents ? [agents ?? 'default'] : null
}
