import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Call, GuardError, type Identity, type ProxyRequest } from 'guard-gateway/core'
import { NONE } from '#lib/api-style'
import type { InFlightClient, SocketCall, SocketUpgrade } from '#lib/http'
import { newId } from '#lib/ids'
import type { ReadRequest } from '#lib/request-reader'
import { credentialsOf, isPlain, programIdentity } from '../admission/credentials.ts'
import { readInboundHeaders } from '../admission/inbound-headers.ts'
import { queryOf } from '../admission/target.ts'
import type { SocketAnswer } from '../connections/socket-answer.ts'
import { styleOf } from '../errors.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { admissionOf, hintOf } from './admission.ts'
import { callOf, modeOf } from './call.ts'
import { LARGE } from './exchange.ts'

interface Handshake {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  readonly path: string
}

/** A handshake whose key was good. */
export class ModelSocketUpgrade implements SocketUpgrade {
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
