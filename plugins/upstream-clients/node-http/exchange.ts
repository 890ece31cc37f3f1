import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Exchange, UpstreamListener } from 'guard-gateway/lib/upstream-client'
import { carries } from './watch.ts'

/** A request of Node's own client, told as the contract wants it. */
export class NodeExchange implements Exchange {
  readonly #request: ClientRequest
  readonly #listener: UpstreamListener
  #reply: IncomingMessage | undefined
  #failed = false

  constructor(request: ClientRequest, listener: UpstreamListener) {
    this.#request = request
    this.#listener = listener
    request.on('response', (reply: IncomingMessage) => this.#answered(reply))
    request.on('error', (error: NodeJS.ErrnoException) => this.#fail(error))
    // an answer that is none, for example a change of protocol, ends without an error
    request.on('close', () => this.#fail(noAnswer('ECONNRESET')))
  }

  stop(reason: Error): void {
    const target = this.#reply ?? this.#request
    // while a proxy makes the connection, Node would tell the end only when it is there
    if (this.#request.socket === null) this.#fail(reason)
    target.destroy(reason)
  }

  #answered(reply: IncomingMessage): void {
    const status = reply.statusCode ?? 0
    if (status < 200) return void this.#request.destroy(noAnswer('HPE_INVALID_STATUS'))
    this.#reply = reply
    carries(reply)
    // an error before anybody listens must not end the process; who listens later finds the reply destroyed
    reply.on('error', ignore)
    reply.on('close', () => this.#listener.over())
    this.#listener.answered({ status, headers: reply.rawHeaders, body: reply })
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (this.#reply !== undefined || this.#failed) return
    this.#failed = true
    this.#listener.failed(error)
    this.#listener.over()
  }
}

const ignore = (): void => {}

const noAnswer = (code: string): Error => Object.assign(new Error('no answer that can be used'), { code })
