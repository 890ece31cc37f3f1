import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type GuardError, isFault } from 'guard-gateway/core'
import { newId } from '#lib/ids'
import { decodedPath } from '../admission/target.ts'
import { guardErrorOf, modelError } from '../errors.ts'
import type { HttpServerState } from '../http-server-state.ts'
import { refusal } from '../log-events.ts'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Answers a handshake with anything but 101, once, and ends its connection. */
export class SocketAnswer {
  readonly id: string
  readonly #state: HttpServerState
  readonly #request: IncomingMessage
  readonly #socket: Duplex
  /** The path, once it is known to be one that is served. */
  route = 'upgrade'
  isSent = false

  constructor(state: HttpServerState, request: IncomingMessage, socket: Duplex) {
    this.id = newId('guardreq_', state.gateway.clock.now())
    this.#state = state
    this.#request = request
    this.#socket = socket
  }

  /** Answers with an error of ours. */
  refuse(thrown: unknown): void {
    const { gateway } = this.#state
    if (isFault(thrown)) gateway.fault(thrown, 'http')
    if (this.isSent) return void this.#socket.destroy()
    const error = guardErrorOf(thrown)
    const further = Object.entries(error.place.headers ?? {}).flat()
    if (error.status === 426) this.#send(426, ['upgrade', 'HTTP/1.1', ...further], Buffer.alloc(0))
    else this.#send(error.status, ['content-type', 'application/json', ...further], this.#bodyOf(error))
    this.#log(error.status, refusal(this.#state, error))
  }

  /** Answers as somebody else did. */
  respond(status: number, headers: readonly string[], body: Buffer): void {
    if (this.isSent) return
    this.#send(status, headers, body)
    this.#log(status, {})
  }

  #bodyOf(error: GuardError): Buffer {
    const path = decodedPath(this.#request.url ?? '')
    const answer =
      this.#state.modelPaths.kindOf(path) === 'model'
        ? modelError(this.#state, path, this.#request.headers, error, this.id, error.status)
        : { error: { type: error.type, code: error.code, message: error.message } }
    return Buffer.from(JSON.stringify(answer))
  }

  #send(status: number, headers: readonly string[], body: Buffer): void {
    this.isSent = true
    const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`]
    for (let index = 0; index + 1 < headers.length; index += 2)
      if (headers[index]?.toLowerCase() !== 'content-length') lines.push(`${headers[index]}: ${headers[index + 1]}`)
    lines.push(status === 426 ? 'connection: upgrade, close' : 'connection: close', `content-length: ${body.length}`)
    lines.push(`x-guard-request-id: ${this.id}`, '', '')
    this.#socket.end(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body]))
  }

  #log(status: number, more: { readonly code?: string; readonly message?: string }): void {
    this.#state.log?.line('info', { request_id: this.id, method: 'GET', route: this.route, status, ...more })
  }
}
