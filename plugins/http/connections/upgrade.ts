import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Call, GuardError, type Identity, type ProxyRequest } from 'guard-gateway/core'
import { NONE } from '#lib/api-style'
import { type InFlightClient, type SocketCall, type SocketRoute, type SocketUpgrade, socketRouteKind } from '#lib/http'
import { newId } from '#lib/ids'
import type { ReadRequest } from '#lib/request-reader'
import { admit } from '../admission/admit.ts'
import { canonicalTarget } from '../admission/canonical-target.ts'
import { credentialsOf, isPlain, programIdentity } from '../admission/credentials.ts'
import { readInboundHeaders } from '../admission/inbound-headers.ts'
import { classOf } from '../admission/route-class.ts'
import { decodedPath, queryOf } from '../admission/target.ts'
import { httpErrors } from '../error-codes.ts'
import { styleOf } from '../errors.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { admissionOf, hintOf } from '../models/admission.ts'
import { callOf, modeOf } from '../models/call.ts'
import { LARGE } from '../models/exchange.ts'
import { SocketAnswer } from './socket-answer.ts'

/** Only WebSocket handshakes are examined; other upgrades may be ignored, and clients that offer them are served. */
export const wantsWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

/** Admits WebSocket handshakes like any request, and hands them to whoever serves WebSockets at their path. */
export const serveUpgrades = (state: HttpServerState, server: Server): void => {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    serveUpgrade(state, request, socket, head),
  )
}

export const serveUpgrade = (state: HttpServerState, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  // a client may disconnect during the response
  socket.on('error', () => socket.destroy())
  state.authProxy?.take(request)
  const answer = new SocketAnswer(state, request, socket)
  try {
    const { route, path } = admitted(state, request, answer)
    void open(state, { request, socket, head, path }, answer, route)
  } catch (error) {
    answer.refuse(error)
  }
}

/** Whether a handshake is to a path of the gateway's, in a server that has others too. */
export const servesUpgrade = (state: HttpServerState, request: IncomingMessage): boolean => {
  const path = decodedPath(canonicalTarget(state, request))
  return (
    wantsWebSocket(request) &&
    (path.startsWith('/v1/') || [...state.gateway.registry(socketRouteKind)].some(({ paths }) => paths.includes(path)))
  )
}

const MODEL_PATH = /^(?:\/v1){0,2}(\/[^/].*?)\/?$/

/** Throws the first reason to refuse a handshake. */
const admitted = (
  state: HttpServerState,
  request: IncomingMessage,
  answer: SocketAnswer,
): { readonly route: SocketRoute; readonly path: string } => {
  request.url = canonicalTarget(state, request)
  const spelled = decodedPath(request.url)
  const kind = classOf(spelled)
  admit(state, request, kind)
  // CORS holds no page back from a WebSocket, so that no foreign one may begin it, whatever key it shows
  state.checkOrigin(request, 'local')
  const path = kind === 'model' ? `/v1${MODEL_PATH.exec(spelled)?.[1] ?? ''}` : spelled
  const route = [...state.gateway.registry(socketRouteKind)].find(({ paths }) => paths.includes(path))
  if (route !== undefined || path === RESPONSES) answer.route = path
  if (route !== undefined) {
    checkHandshake(request)
    return { route, path }
  }
  // its clients begin with a WebSocket, and take this answer as a wish for plain requests
  if (path === RESPONSES) throw new GuardError(httpErrors.UPGRADE_REQUIRED)
  throw new GuardError('INVALID_REQUEST', 'There is no WebSocket at this path.')
}

const RESPONSES = '/v1/responses'
const KEY = /^[+/0-9A-Za-z]{22}==$/

/** Throws METHOD_NOT_ALLOWED, INVALID_HEADER. */
const checkHandshake = ({ method, headers }: IncomingMessage): void => {
  if (method !== 'GET') throw new GuardError('METHOD_NOT_ALLOWED', undefined, { headers: { allow: 'GET' } })
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    throw new GuardError('INVALID_HEADER', 'The header sec-websocket-key is no key. Send 16 bytes in Base64.')
  if (headers['sec-websocket-version'] !== '13')
    throw new GuardError('INVALID_HEADER', 'The header sec-websocket-version is another one than 13.', {
      headers: { 'sec-websocket-version': '13' },
    })
}

const open = async (
  state: HttpServerState,
  handshake: {
    readonly request: IncomingMessage
    readonly socket: Duplex
    readonly head: Buffer
    readonly path: string
  },
  answer: SocketAnswer,
  route: SocketRoute,
): Promise<void> => {
  try {
    const upgrade = await ModelSocketUpgrade.of(state, handshake, answer)
    await route.open(upgrade)
  } catch (error) {
    answer.refuse(error)
  }
}

interface Handshake {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  readonly path: string
}

/** A handshake whose key was good. */
class ModelSocketUpgrade implements SocketUpgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  readonly proxied: ProxyRequest
  readonly login: readonly string[]
  readonly #state: HttpServerState
  readonly #answer: SocketAnswer
  readonly #credentials: readonly string[]
  #identity: Identity

  /** Rejects with UNAUTHORIZED, SCOPE_REQUIRED, SHUTTING_DOWN, INVALID_HEADER. */
  static async of(state: HttpServerState, handshake: Handshake, answer: SocketAnswer): Promise<ModelSocketUpgrade> {
    const credentials = credentialsOf(handshake.request.headers)
    const identity = await identityOf(state, handshake.request, credentials)
    if (state.draining) throw new GuardError('SHUTTING_DOWN', undefined, { headers: { 'retry-after': '1' } })
    modeOf(handshake.request, false)
    return new ModelSocketUpgrade(state, handshake, answer, credentials, identity)
  }

  private constructor(
    state: HttpServerState,
    { request, socket, head, path }: Handshake,
    answer: SocketAnswer,
    credentials: readonly string[],
    identity: Identity,
  ) {
    this.#state = state
    this.#answer = answer
    this.#credentials = credentials
    this.#identity = identity
    this.request = request
    this.socket = socket
    this.head = head
    const {
      headers,
      raw: raw_headers,
      login,
    } = readInboundHeaders(state.gateway, request.rawHeaders, credentials.length)
    const query = queryOf(request.url ?? '')
    const target = { method: 'GET', path, query, styles: [styleOf(path, headers)], model: null, body: undefined }
    const admission = admissionOf(request, path, headers, NONE)
    this.proxied = { ...target, id: answer.id, headers, raw_headers, identity, admission }
    this.login = login
  }

  get id(): string {
    return this.#answer.id
  }

  get draining(): boolean {
    return this.#state.draining
  }

  refuse(error: GuardError): void {
    this.#answer.refuse(error)
  }

  accepted(): void {
    this.#answer.isSent = true
  }

  respond(status: number, headers: readonly string[], body: Buffer): void {
    this.#answer.respond(status, headers, body)
  }

  begin(client: InFlightClient, bytes: number): void | Promise<void> {
    const state = this.#state
    state.checkCapacity(bytes)
    state.inFlight.add(client)
    state.hold(client, bytes)
    const identity = identityOf(state, this.request, this.#credentials)
    if (!(identity instanceof Promise)) this.#identity = identity
    else
      return identity.then((found) => {
        this.#identity = found
      })
  }

  beginUnasked(client: InFlightClient): void {
    this.#state.inFlight.add(client)
  }

  end(client: InFlightClient): void {
    const state = this.#state
    if (client.index === -1) return
    state.release(client)
    state.inFlight.remove(client)
    client.index = -1
  }

  callOf({ style, body, more }: SocketCall): Call | Promise<Call> {
    const { gateway, bodyReads } = this.#state
    const at = gateway.clock.now()
    const tick = gateway.clock.tick()
    const { reader } = gateway.service('requests').need()
    const hint = hintOf(this.request)
    const made = (read: ReadRequest): Call => {
      const metadata = {
        id: newId('guardreq_', at),
        at,
        tick,
        style,
        path: this.proxied.path,
        identity: this.#identity,
        key_count: this.#credentials.length,
        mode_override: modeOf(this.request, this.#state.server.allow_mode_header),
        body,
      }
      return Object.assign(callOf(gateway, this.request, metadata, streamed(read)), {
        transport: 'websocket',
        ...more,
      } as const)
    }
    const turn = body.length >= LARGE ? bodyReads.turn() : undefined
    return turn === undefined
      ? made(reader.read(style, body, hint))
      : turn.then(() => made(reader.read(style, body, hint)))
  }

  blockStatus(status: number): number {
    return this.#state.blockStatus(this.request.headers['user-agent'] ?? '', status)
  }
}

/** Answers come as messages, whether the request says so or not. */
const streamed = (read: ReadRequest): ReadRequest =>
  read.envelope.stream ? read : { ...read, envelope: { ...read.envelope, stream: true } }

/** Whose keys a handshake shows. Rejects with UNAUTHORIZED, SCOPE_REQUIRED. */
const identityOf = (
  state: HttpServerState,
  request: IncomingMessage,
  credentials: readonly string[],
): Identity | Promise<Identity> => {
  const known = state.gateway.keys.identify(credentials)
  return isPlain(known) ? known : programIdentity(state, request, credentials, 'models')
}
