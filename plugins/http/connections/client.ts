import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type Call, type Client, headerOf, type ProxyRequest } from 'guard-gateway/core'

const http = process.getBuiltinModule('node:http')
const NOTHING = Buffer.alloc(0)
/** Up to this size a copy of the body costs less than a second buffer in the write. */
const MAX_INLINE_BODY = 16_384

/** Ends a connection so that it looks broken: by a reset, or over TLS, where Node can send none, without the alert that marks an end. */
const breakOff = (socket: Socket): void =>
  void ((socket as Partial<TLSSocket>).encrypted === true ? socket.destroy() : socket.resetAndDestroy())

/** A client on the other end of an HTTP response. */
export class HttpClient implements Client {
  gone = false
  interrupted = false
  /** What it asked for, once that is read. */
  call: Call | undefined
  /** The same of a request that no rule judges. */
  proxied: ProxyRequest | undefined
  /** Gives the headers that plugins make of those of a reply; absent where none does. */
  amend:
    | ((status: number, headers: readonly string[], request: Call | ProxyRequest | undefined) => readonly string[])
    | undefined
  /** The status that was sent to the client; 0 before that. */
  status = 0
  /** Its index among the requests in flight. */
  index = -1
  /** Body bytes handed over. */
  bytes = 0
  /** Bytes of its request's body that count as held. */
  held = 0
  readonly #response: ServerResponse
  readonly #writeIdleMs: number
  readonly #closed: (() => void)[] = []
  readonly #override: ((status: number) => number) | undefined
  #headers: readonly string[] = []
  #ended = false

  /** `writeIdleMs`: a client that reads no byte for this time counts as disconnected. `override`: status instead of that of a block. */
  constructor(response: ServerResponse, writeIdleMs: number, override?: (status: number) => number) {
    this.#response = response
    this.#writeIdleMs = writeIdleMs
    this.#override = override
    response.on('close', () => {
      if (!response.writableFinished) this.#leave()
    })
  }

  head(status: number, original: readonly string[], flush: boolean): void {
    const response = this.#response
    const headers = this.amend === undefined ? original : this.amend(status, original, this.call ?? this.proxied)
    if (response.constructor === http.ServerResponse) response.writeHead(status, headers as string[])
    else {
      // a plugin that replaced the response needs its headers one by one
      for (let index = 0; index + 1 < headers.length; index += 2)
        response.appendHeader(headers[index] ?? '', headers[index + 1] ?? '')
      response.writeHead(status)
    }
    // a plugin may set a head that cannot be written: nothing was sent to the client then
    this.status = status
    this.#headers = headers
    if (flush) this.#sendHead()
  }

  write(chunk: Uint8Array): boolean {
    this.bytes += chunk.length
    const more = this.#response.write(chunk)
    if (!more) this.#watch(this.#writeIdleMs)
    return more
  }

  end(last?: Uint8Array): void {
    if (this.#ended) return
    this.#ended = true
    if (last === undefined) this.#response.end()
    else {
      this.#endWith(last)
      this.bytes += last.length
    }
    // what is still in progress may wait as long as all bytes before it
    if (this.#response.writableLength > 0) this.#watch(this.#writeIdleMs)
  }

  /** What was written still goes out; then the connection ends without the end of the reply. */
  cut(): void {
    if (this.#ended) return
    this.#ended = true
    const response = this.#response
    // a reply that waits for those before it on its connection has no socket of its own yet
    const { socket } = response.req
    if (!response.headersSent || !(socket instanceof Socket) || socket.destroyed) {
      response.destroy()
      return
    }
    this.#watch(this.#writeIdleMs)
    const endIsMarked = response.chunkedEncoding || headerOf(this.#headers, 'content-length') !== undefined
    // the head waits for the first byte of the body, which may never have come;
    // for a client to whom the end of the connection is the end of the reply, only a reset looks broken
    response.write(NOTHING, () => (endIsMarked ? socket.destroySoon() : breakOff(socket)))
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', () => {
      this.#watch(0)
      listener()
    })
  }

  onGone(listener: () => void): void {
    if (this.gone) listener()
    else this.#closed.push(listener)
  }

  blockStatus(status: number): number {
    return this.#override?.(status) ?? status
  }

  /** Ends the exchange from our side: the reply is broken off and recorded as interrupted; of a request that is not there yet, the connection ends. */
  interrupt(): void {
    if (this.gone || this.#ended) return
    this.interrupted = true
    this.#leave()
    // it is still being asked: nothing is there to be recorded, and the rest of its body would be waited for
    if (this.call === undefined && this.status === 0) this.#response.destroy()
  }

  /** A small body of its own is passed as text, a character a byte: Node writes head and body as one then. */
  #endWith(last: Uint8Array): void {
    const response = this.#response
    if (this.bytes > 0 || last.length > MAX_INLINE_BODY || response.constructor !== http.ServerResponse)
      response.end(last)
    else response.end(Buffer.from(last.buffer, last.byteOffset, last.length).toString('latin1'), 'latin1')
  }

  /** Sends the head alone. Not by `flushHeaders`, which writes it as UTF-8: values are bytes, and those beyond ASCII would become two. */
  #sendHead(): void {
    this.#response.write(NOTHING)
  }

  #leave(): void {
    if (this.gone) return
    this.gone = true
    for (const listener of this.#closed) listener()
    this.#closed.length = 0
  }

  /** The socket destroys itself after so long without a byte taken; 0: never. */
  #watch(ms: number): void {
    this.#response.socket?.setTimeout?.(ms)
  }
}
