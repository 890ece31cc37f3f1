import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { DialRefusal, DialRequest, OpenedSocket, UpstreamAddress } from 'guard-gateway/lib/upstream-client'
import { type ClientOptions, WebSocket } from 'ws'
import { openSocket, openTunnel, secureOptions, trustOf } from '#lib/network'
import { commonOptions, WsMessageSocket } from './message-socket.ts'

const MAX_REFUSAL_BYTES = 1_048_576

/** Not looked at: connection, path and headers are given otherwise. */
const PLACEHOLDER = 'ws://upstream/'

/** No answer to the handshake in time. */
class HandshakeTimeout extends Error {
  readonly code = 'HANDSHAKE_TIMEOUT'
}

/** What a handshake consists of; all other headers are the caller's. */
const ofHandshake = new Set([
  'sec-websocket-version',
  'sec-websocket-key',
  'sec-websocket-extensions',
  'connection',
  'upgrade',
])

/** Sends a handshake and waits for its answer. */
export const dial = (request: DialRequest, signal: AbortSignal): Promise<OpenedSocket | DialRefusal> =>
  new Promise((resolve, reject) => {
    const dialling = new Dialling(request, resolve, reject)
    const stop = (): void => dialling.stop(signal.reason as Error)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    dialling.ended = () => signal.removeEventListener('abort', stop)
  })

class Dialling {
  readonly #socket: WebSocket
  readonly #resolve: (answer: OpenedSocket | DialRefusal) => void
  readonly #reject: (error: Error) => void
  readonly #late: NodeJS.Timeout
  #raw: Socket | undefined
  #stopped: Error | undefined
  ended: () => void = () => {}

  constructor(
    request: DialRequest,
    resolve: (answer: OpenedSocket | DialRefusal) => void,
    reject: (error: Error) => void,
  ) {
    this.#resolve = resolve
    this.#reject = reject
    const { handshake_ms } = request
    this.#late = setTimeout(() => this.stop(new HandshakeTimeout(`no answer within ${handshake_ms} ms`)), handshake_ms)
    this.#socket = new WebSocket(PLACEHOLDER, this.#options(request))
    let headers: readonly string[] = []
    this.#socket.once('upgrade', (response: IncomingMessage) => {
      headers = response.rawHeaders
    })
    this.#socket.once('open', () => {
      const socket = new WsMessageSocket(this.#socket, this.#raw ?? {})
      this.#socket.off('error', failed)
      this.#over()
      resolve({ socket, headers })
    })
    this.#socket.once('unexpected-response', (_request, response) => this.#refused(response))
    const failed = (error: Error): void => {
      this.#over()
      reject(this.#stopped ?? error)
    }
    this.#socket.on('error', failed)
  }

  /** Gives the attempt up. */
  stop(reason: Error): void {
    this.#stopped = reason
    this.#socket.terminate()
    this.#raw?.destroy()
    this.#over()
    this.#reject(reason)
  }

  #over(): void {
    clearTimeout(this.#late)
    this.ended()
  }

  #options({ address, path, headers, compress, max_bytes }: DialRequest): ClientOptions {
    return {
      ...commonOptions,
      followRedirects: false,
      maxPayload: max_bytes,
      perMessageDeflate: compress
        ? { clientNoContextTakeover: true, serverNoContextTakeover: true, threshold: 1_024 }
        : false,
      createConnection: ((_options: object, made: (error: Error | null, socket?: Socket) => void) => {
        openConnection(address, (error, socket) => {
          this.#raw = socket
          if (this.#stopped !== undefined) socket?.destroy()
          made(error, socket)
        })
      }) as unknown as NonNullable<ClientOptions['createConnection']>,
      finishRequest: (request) => sendHead(request, path, headers),
    }
  }

  #refused(response: IncomingMessage): void {
    const chunks: Buffer[] = []
    let length = 0
    const done = (): void => {
      this.#over()
      this.#resolve({ status: response.statusCode ?? 502, headers: response.rawHeaders, body: Buffer.concat(chunks) })
      this.#raw?.destroy()
    }
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      if (length > MAX_REFUSAL_BYTES) done()
    })
    response.once('end', done).once('error', done).once('close', done)
  }
}

/** Sends the head with the caller's headers as they are, and after them those of the handshake. */
const sendHead = (request: ClientRequest, path: string, headers: readonly string[]): void => {
  const own = request.getHeaders()
  for (const name of Object.keys(own)) request.removeHeader(name)
  request.path = path
  for (let index = 0; index + 1 < headers.length; index += 2)
    request.appendHeader(headers[index] ?? '', headers[index + 1] ?? '')
  for (const [name, value] of Object.entries(own))
    if (value !== undefined && ofHandshake.has(name)) request.setHeader(spelled(name), value)
  request.end()
}

const spelled = (name: string): string =>
  name.startsWith('sec-')
    ? name.replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase()).replace('Websocket', 'WebSocket')
    : name

/** No connection in time. */
class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT'
}

/** Opens a connection to an address, through a tunnel where a proxy is on the way. `made` is told once. */
const openConnection = (address: UpstreamAddress, made: (error: Error | null, socket?: Socket) => void): void => {
  const { proxy, secure, hostname, port, connect_ms } = address
  const trust = trustOf(address)
  let current: Socket
  const way = proxy === undefined ? '' : ` through the proxy ${proxy.label}`
  const timer = setTimeout(
    () => current.destroy(new ConnectTimeout(`no connection${way} within ${connect_ms} ms`)),
    connect_ms,
  )
  const watched = (socket: Socket, event: string): Socket => {
    current = socket
    const connected = (): void => clearTimeout(timer)
    return socket.once(event, connected).once('close', connected)
  }
  if (proxy === undefined) {
    const socket = watched(openSocket({ secure, hostname, port }, trust), secure ? 'secureConnect' : 'connect')
    made(null, socket)
    return
  }
  current = openTunnel({ proxy, hostname, port, trust }, (error) => {
    if (error !== undefined) {
      clearTimeout(timer)
      return made(error)
    }
    if (!secure) {
      clearTimeout(timer)
      made(null, current)
      // it was paused, and whoever has got it listens by the next tick
      process.nextTick(() => current.resume())
      return
    }
    const { connect } = process.getBuiltinModule('node:tls')
    made(null, watched(connect({ socket: current, ...secureOptions(hostname, trust) }), 'secureConnect'))
  })
}
