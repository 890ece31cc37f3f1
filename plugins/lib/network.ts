import { isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import type { ConnectionOptions, SecureContext } from 'node:tls'
import { type BodyReader, type Clock, headerOf, readInto } from 'guard-gateway/core'
import type {
  Connections,
  ProxyAddress,
  UpstreamAddress,
  UpstreamListener,
  UpstreamRequest,
  UpstreamResponse,
} from '#lib/upstream-client'
import { connectionFault } from './network/connection-fault.ts'

export { connectionFault } from './network/connection-fault.ts'

export { isThisMachine, noProxy } from './network/no-proxy.ts'
export { proxyAddress, proxyPassword } from './network/proxy-address.ts'
export { directReason, proxyChoice } from './network/proxy-choice.ts'

export { type UpstreamRoute, upstreamAddress } from './network/upstream-address.ts'

/** Whom TLS connections to an address trust: Node's own authorities, those of NODE_EXTRA_CA_CERTS among them, and the address's own. Undefined where it has none, or speaks no TLS. */
export const trustOf = ({ ca = [], secure, proxy }: UpstreamAddress): SecureContext | undefined => {
  if (ca.length === 0 || !(secure || proxy?.secure === true)) return undefined
  const { createSecureContext, getCACertificates } = process.getBuiltinModule('node:tls')
  return createSecureContext({ ca: [...getCACertificates('default'), ...ca] })
}

/** `Retry-After`, as seconds or as a date, in milliseconds from now; null without one that can be read. */
export const retryAfterMs = (headers: readonly string[], clock: Clock): number | null => {
  const header = headerOf(headers, 'retry-after')
  if (header === undefined) return null
  const wait = /^\d+$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - clock.now()
  return Number.isNaN(wait) ? null : wait
}

/** Wraps the listener of a request in absolute form: errors of the proxy, such as a missing login, are not reported as errors of the upstream. */
export const withProxyErrors = (address: UpstreamAddress, listener: UpstreamListener): UpstreamListener =>
  address.proxy === undefined || isTunnelled(address)
    ? listener
    : new ProxyErrorListener(address.proxy, requestPrefix(address), listener)

/** Nothing but the way to the proxy can end so. */
const NOT_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EPROTO|ERR_SSL_|ERR_TLS_|UNABLE_TO_|CERT_|DEPTH_ZERO_|SELF_SIGNED_)/

class ProxyErrorListener implements UpstreamListener {
  readonly #proxy: ProxyAddress
  readonly #place: string
  readonly #listener: UpstreamListener

  constructor(proxy: ProxyAddress, place: string, listener: UpstreamListener) {
    this.#proxy = proxy
    this.#place = place
    this.#listener = listener
  }

  answered(response: UpstreamResponse): void {
    if (response.status !== 407) return void this.#listener.answered(response)
    this.#listener.failed(refusingProxy(this.#proxy, 407, this.#place))
    if (!(response.body instanceof Uint8Array)) response.body.destroy()
  }

  failed(error: NodeJS.ErrnoException): void {
    const { code = '' } = error
    this.#listener.failed(NOT_CONNECTED.test(code) ? unreachableProxy(this.#proxy, error) : error)
  }

  over(): void {
    this.#listener.over()
  }

  sent(): void {
    this.#listener.sent?.()
  }
}

const MAX_RESPONSE_BYTES = 65_536

/** A response. Its status is valid even if the body is incomplete. */
export interface ReceiverResponse {
  readonly status: number
  /** Name, value, name, value … */
  readonly headers: readonly string[]
  /** Start of the body; shorter if it is incomplete. */
  readonly body: Buffer
}

/** Sends a request. Resolves when the response ends, reaches the limit, or times out. Rejects without a response; `signal` aborts. */
export const post = (
  connections: Connections,
  request: UpstreamRequest,
  timeout_ms: number,
  signal: AbortSignal,
): Promise<ReceiverResponse> =>
  new Promise((resolve, reject) => {
    const pending = new PendingRequest(resolve, reject)
    const exchange = connections.send(request, pending)
    const stop = (why: string): void => exchange.stop(new Error(why))
    const late = setTimeout(() => stop(`no answer within ${timeout_ms} ms`), timeout_ms)
    const abort = (): void => stop('the gateway stops')
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    pending.ended = () => {
      clearTimeout(late)
      signal.removeEventListener('abort', abort)
    }
    pending.enough = () => stop('the answer is too long')
  })

/** A request and its pending response. */
class PendingRequest implements UpstreamListener, BodyReader {
  ended = (): void => {}
  enough = (): void => {}
  readonly #resolve: (answer: ReceiverResponse) => void
  readonly #reject: (error: Error) => void
  readonly #chunks: Uint8Array[] = []
  #bytes = 0
  #head: Pick<ReceiverResponse, 'status' | 'headers'> = { status: 0, headers: [] }

  constructor(resolve: (answer: ReceiverResponse) => void, reject: (error: Error) => void) {
    this.#resolve = resolve
    this.#reject = reject
  }

  answered({ status, headers, body }: UpstreamResponse): void {
    this.#head = { status, headers }
    if (body instanceof Uint8Array) {
      this.data(body)
      this.end()
    } else readInto(body, this)
  }

  failed(error: NodeJS.ErrnoException): void {
    this.ended()
    this.#reject(error)
  }

  over(): void {}

  data(chunk: Uint8Array): void {
    if (this.#bytes >= MAX_RESPONSE_BYTES) return
    this.#chunks.push(Buffer.from(chunk.subarray(0, MAX_RESPONSE_BYTES - this.#bytes)))
    this.#bytes += chunk.length
    if (this.#bytes < MAX_RESPONSE_BYTES) return
    this.end()
    this.enough()
  }

  end(): void {
    this.ended()
    this.#resolve({ ...this.#head, body: Buffer.concat(this.#chunks) })
  }

  cut(): void {
    this.end()
  }
}

/** Where a tunnel leads, and through whom. */
export interface TunnelRequest {
  readonly proxy: ProxyAddress
  readonly hostname: string
  readonly port: number
  /** Whom a TLS connection to the proxy trusts; Node's own authorities if undefined. */
  readonly trust: SecureContext | undefined
}

/**
 * Asks a proxy for a tunnel by CONNECT. Gives the socket at once, so that it can be given up by `destroy`; `done` is told once, never
 * before this returns: without an error the socket leads to the host, and what comes on it has not been read. With one it is closed;
 * the error is a ProxyFault, or the one that the socket was destroyed with.
 */
export const openTunnel = (request: TunnelRequest, done: (error?: Error) => void): Socket => {
  const { proxy, trust } = request
  const socket = openSocket(proxy, trust, {})
  const reader = new ConnectReplyReader()
  const place = authorityOf(request)
  let isConnected = false

  const over = (error?: Error): void => {
    socket.off('data', read).off('error', failed).off('end', ended).off('close', closed)
    // whoever has the socket now receives its end by what goes through it
    socket.on('error', () => {})
    if (error !== undefined) socket.destroy()
    done(error)
  }
  const answered = ({ status, rest }: ConnectReply): void => {
    if (status < 200 || status > 299) return void over(refusingProxy(proxy, status, place))
    socket.pause()
    if (rest.length > 0) socket.unshift(rest)
    over()
  }
  const read = (bytes: Buffer): void => {
    let reply: ConnectReply | undefined
    try {
      reply = reader.push(bytes)
    } catch (error) {
      return void over(brokenProxy(proxy, (error as Error).message))
    }
    if (reply !== undefined) answered(reply)
  }
  const failed = (error: NodeJS.ErrnoException): void =>
    over(isOurs(error) ? error : isConnected ? brokenProxy(proxy, HUNG_UP) : unreachableProxy(proxy, error))
  const ended = (): void => over(brokenProxy(proxy, HUNG_UP))
  const closed = (): void => over(brokenProxy(proxy, HUNG_UP))

  socket.on('data', read).on('error', failed).on('end', ended).on('close', closed)
  socket.once(proxy.secure ? 'secureConnect' : 'connect', () => {
    isConnected = true
    socket.write(connectHead(place, proxy))
  })
  return socket.setNoDelay(true)
}

const HUNG_UP = 'closed the connection before it had opened a tunnel'

/** The socket was given up for a reason of its owner's. */
const isOurs = (error: NodeJS.ErrnoException): boolean =>
  error instanceof ProxyFault || error.code === 'CONNECT_TIMEOUT'

const authorityOf = ({ hostname, port }: TunnelRequest): string =>
  `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`

const connectHead = (place: string, { authorization }: ProxyAddress): string =>
  [
    `CONNECT ${place} HTTP/1.1`,
    `Host: ${place}`,
    ...(authorization === undefined ? [] : [`Proxy-Authorization: ${authorization}`]),
    '\r\n',
  ].join('\r\n')

const MAX_HEAD = 65_536
const STATUS = /^HTTP\/1\.[01] ([1-9]\d{2})(?: [^\r\n]*)?\r?$/

/** What a proxy said to CONNECT. */
interface ConnectReply {
  readonly status: number
  /** The bytes after its head, which belong to the tunnel. */
  readonly rest: Buffer
}

/** Reads the head of an answer to CONNECT, in whatever pieces it comes; informational heads before it are passed over. */
class ConnectReplyReader {
  #bytes = Buffer.alloc(0)

  /** Gives the reply when its head is there. Throws Error for what is no HTTP. */
  push(bytes: Buffer): ConnectReply | undefined {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    for (let end = headEnd(this.#bytes); end !== -1; end = headEnd(this.#bytes)) {
      const [line = ''] = this.#bytes.toString('latin1', 0, end).split('\n', 1)
      const status = Number(STATUS.exec(line)?.[1] ?? 0)
      if (status === 0) throw new Error('answered CONNECT with something else than HTTP/1')
      const rest = this.#bytes.subarray(end)
      // a switch to another protocol is no answer to CONNECT, and ends it
      if (status >= 200 || status === 101) return { status, rest }
      this.#bytes = rest
    }
    if (this.#bytes.length > MAX_HEAD) throw new Error(`answered CONNECT with more than ${MAX_HEAD} bytes of headers`)
    if (!couldBeHttp(this.#bytes)) throw new Error('answered CONNECT with something else than HTTP/1')
    return undefined
  }
}

/** Where the body would start; -1 while the head is incomplete. A lone line feed ends a line, too. */
const headEnd = (bytes: Buffer): number => {
  const strict = bytes.indexOf('\r\n\r\n')
  const loose = bytes.indexOf('\n\n')
  if (strict === -1) return loose === -1 ? -1 : loose + 2
  return loose === -1 || strict < loose ? strict + 4 : loose + 2
}

const couldBeHttp = (bytes: Buffer): boolean => {
  const start = bytes.toString('latin1', 0, 7)
  return 'HTTP/1.'.startsWith(start) || start.startsWith('HTTP/1.')
}

/** A proxy that did not lead to the upstream; the message names it, without its login. */
class ProxyFault extends Error {
  readonly code: 'PROXY_UNREACHABLE' | 'PROXY_LOGIN' | 'PROXY_REFUSED' | 'PROXY_BROKEN'
  constructor(code: ProxyFault['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** Why a proxy cannot be reached, out of what the system or TLS says. */
const unreachableProxy = ({ label }: ProxyAddress, error: NodeJS.ErrnoException): ProxyFault =>
  new ProxyFault('PROXY_UNREACHABLE', `the proxy ${label} cannot be reached: ${connectionFault(error).what}`, error)

/** What a status other than 2xx says that a proxy gives in its own name. */
const refusingProxy = ({ label, authorization }: ProxyAddress, status: number, place: string): ProxyFault => {
  if (status !== 407)
    return new ProxyFault('PROXY_REFUSED', `the proxy ${label} opens no connection to ${place}: it answered ${status}`)
  const why = authorization === undefined ? 'wants a login' : 'refuses the login it was shown'
  return new ProxyFault(
    'PROXY_LOGIN',
    `the proxy ${label} ${why} (407); its address takes one, as http://user:password@host:port`,
  )
}

/** The proxy speaks something else than HTTP, or says no more. */
const brokenProxy = ({ label }: ProxyAddress, what: string): ProxyFault =>
  new ProxyFault('PROXY_BROKEN', `the proxy ${label} ${what}`)

/** The other end of a TCP connection. */
export interface Hop {
  readonly secure: boolean
  readonly hostname: string
  readonly port: number
}

/** What connections to an address lead to first: its proxy if there is one, else itself. */
export const firstHop = ({ proxy, secure, hostname, port }: UpstreamAddress): Hop => proxy ?? { secure, hostname, port }

/** What is written before the path of a request: the origin where a proxy takes whole URLs, else nothing. */
export const requestPrefix = ({ proxy, secure, hostname, port }: UpstreamAddress): string => {
  if (proxy === undefined || secure) return ''
  const name = isIP(hostname) === 6 ? `[${hostname}]` : hostname
  return `http://${name}${port === 80 ? '' : `:${port}`}`
}

/** Whether a tunnel leads to the address. */
export const isTunnelled = ({ proxy, secure }: UpstreamAddress): boolean => proxy !== undefined && secure

/** Options of a TLS connection to a host, which speaks HTTP/1.1 then. */
export const secureOptions = (hostname: string, trust: SecureContext | undefined): ConnectionOptions => ({
  ALPNProtocols: ['http/1.1'],
  ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
  ...(trust === undefined ? {} : { secureContext: trust }),
})

/** Opens a socket, with TLS where the hop has it. */
export const openSocket = (
  { secure, hostname: host, port }: Hop,
  trust: SecureContext | undefined,
  options: Omit<TcpNetConnectOpts, 'host' | 'port'> & ConnectionOptions = {},
): Socket => {
  if (!secure) return process.getBuiltinModule('node:net').connect({ ...options, host, port })
  return process.getBuiltinModule('node:tls').connect({ ...options, ...secureOptions(host, trust), host, port })
}
