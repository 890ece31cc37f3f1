import type { Socket } from 'node:net'
import type { ConnectionOptions, SecureContext } from 'node:tls'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'
import Client from 'undici/lib/dispatcher/client.js'
import { firstHop, isTunnelled, openSocket as openHop, openTunnel, secureOptions } from '#lib/network'
import { ConnectionClosed, ConnectTimeout, HttpFault } from './errors.ts'
import type { UndiciExchange } from './exchange.ts'

const PROBE_MS = 30_000
/** A connection is dropped so long before the server's keep-alive ends, so that no request meets its close. */
const EXPIRY_MARGIN_MS = 1_000
/** Undici gives a connection up whose host changes; here the connection decides where it leads. */
const ORIGIN = 'http://upstream'

/** Keeps connections between requests. */
export interface ConnectionOwner extends TlsState {
  addIdle(connection: Connection): void
  remove(connection: Connection): void
}

/**
 * A client of undici with one connection at a time. Between undici and the socket, two of the socket's methods differ: what is written
 * has its headers in the order and spelling of the request, which undici changes for those that frame a message, and what is read is
 * without informational heads, of which undici takes 100 for a fault.
 */
export class Connection {
  readonly #client: Client
  readonly #address: UpstreamAddress
  readonly #owner: ConnectionOwner
  readonly #response = new ResponseBytes()
  #socket: Socket | undefined
  #exchange: UndiciExchange | undefined

  constructor(address: UpstreamAddress, owner: ConnectionOwner) {
    this.#address = address
    this.#owner = owner
    const { idle_ms } = address
    this.#client = new Client(ORIGIN, {
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idle_ms,
      keepAliveMaxTimeout: idle_ms,
      keepAliveTimeoutThreshold: EXPIRY_MARGIN_MS,
      useMilo: false,
      connect: (_options, done) => {
        this.#socket = openSocket(address, owner, (error, socket) => {
          if (error !== undefined) {
            // undici would leave a request to another host name waiting
            this.abort(error)
            return done(error, null)
          }
          this.#use(socket)
          done(null, socket)
        })
      },
    })
    this.#client.on('disconnect', () => {
      if (this.#exchange === undefined) this.destroy()
    })
  }

  /** False once either side has closed it. */
  get isUsable(): boolean {
    const socket = this.#socket
    return socket?.writable === true && !socket.readableEnded
  }

  /** Throws TypeError, and sends nothing, for what HTTP forbids. */
  send(exchange: UndiciExchange): void {
    this.#exchange = exchange
    try {
      exchange.begin(this, this.#client)
    } catch (error) {
      this.destroy()
      throw error
    }
  }

  /** A piece of the body has been parsed. */
  progressed(): void {
    this.#response.progressed()
  }

  /** The response is complete. A connection that is still sending cannot be used again. */
  release(): void {
    this.#exchange = undefined
    if (this.isUsable && this.#socket?.writableLength === 0) this.#owner.addIdle(this)
    else this.destroy()
  }

  /** Closes it; the exchange hears nothing more. */
  destroy(): void {
    this.#exchange = undefined
    this.#owner.remove(this)
    this.#client.destroy(new ConnectionClosed(), () => {})
    this.#socket?.destroy()
  }

  /** Closes it; the exchange fails. */
  abort(reason: Error): void {
    if (this.#exchange === undefined) this.destroy()
    else this.#exchange.stop(reason)
  }

  #use(socket: Socket): void {
    const { idle_ms } = this.#address
    this.#socket = socket
    socket.setNoDelay(true).setKeepAlive(true, PROBE_MS).setTimeout(idle_ms)
    socket.on('timeout', () => {
      // it fires only once, and a paused body may be resumed later
      socket.setTimeout(idle_ms)
      const [exchange, { bytesRead }] = [this.#exchange, socket]
      if (exchange?.isReading !== true) return
      // after a stop or a sleep of this process, timers run before what arrived meanwhile is read
      setImmediate(() => {
        if (exchange.isReading && socket.bytesRead === bytesRead) exchange.stop(new Error('the upstream was silent'))
      })
    })
    // undici takes a reset for the end of a body that has no length
    socket.on('error', (error) => this.#exchange?.onResponseError(undefined, error))
    const write = socket.write.bind(socket) as (data: string | Buffer, encoding?: string, done?: () => void) => boolean
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null
    socket.write = (data: string | Uint8Array): boolean => {
      const exchange = this.#exchange
      const sent = () => exchange?.sent()
      if (typeof data === 'string') {
        this.#response.begin()
        if (exchange === undefined) return write(data, 'latin1')
        return write(exchange.encode(), undefined, exchange.isInline ? sent : undefined)
      }
      // a small body went with its head
      return exchange?.isInline === true || write(data as Buffer, undefined, sent)
    }
    socket.read = (size?: number): Buffer | null => {
      const bytes = read(size)
      try {
        return bytes === null || bytes.length === 0 ? bytes : this.#response.push(bytes)
      } catch (error) {
        this.#exchange?.stop(error instanceof Error ? error : new HttpFault('HPE_INVALID_STATUS'))
        return null
      }
    }
  }
}

const { maxHeaderSize } = process.getBuiltinModule('node:http')
const STATUS_LINE = 'HTTP/1.1 1xx'
/** The place of the first digit of a status. */
const CLASS = STATUS_LINE.indexOf('1xx')
const ONE = 0x31

/**
 * The bytes of a response before undici parses them. It skips informational heads (RFC 9110, section 15.2), of which undici takes 100
 * for a fault, and bounds what is neither head nor body, as extensions of chunks, which undici does not.
 */
class ResponseBytes {
  #awaitsFinal = false
  /** The part of an informational head that has arrived so far. */
  #held: Buffer | undefined
  #skipped = 0
  /** How much has come since the last piece of a body. */
  #framing = 0

  /** A request is sent. */
  begin(): void {
    this.#awaitsFinal = true
    this.#held = undefined
    this.#skipped = 0
    this.#framing = 0
  }

  /** A piece of the body has been parsed. */
  progressed(): void {
    this.#framing = 0
  }

  /** What of these bytes is for undici; null: nothing yet. Throws HttpFault for what has no end, and for a change of protocol. */
  push(bytes: Buffer): Buffer | null {
    if (this.#awaitsFinal) return this.#skip(bytes)
    if (this.#framing > maxHeaderSize) throw new HttpFault('HPE_HEADER_OVERFLOW')
    this.#framing += bytes.length
    return bytes
  }

  #skip(bytes: Buffer): Buffer | null {
    let rest = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes])
    this.#held = undefined
    while (mayBeInformational(rest)) {
      const end = rest.length < STATUS_LINE.length ? -1 : rest.indexOf('\r\n\r\n')
      if (this.#skipped + (end === -1 ? rest.length : end) > maxHeaderSize) throw new HttpFault('HPE_HEADER_OVERFLOW')
      if (end === -1) {
        this.#held = rest
        return null
      }
      this.#skipped += end + 4
      rest = rest.subarray(end + 4)
    }
    this.#awaitsFinal = false
    this.#framing = rest.length
    return rest
  }
}

/** Throws HttpFault for 101: no request asks for another protocol. */
const mayBeInformational = (bytes: Buffer): boolean => {
  if (bytes.length > CLASS && bytes[CLASS] !== ONE) return false
  const line = bytes.toString('latin1', 0, STATUS_LINE.length)
  if (line === 'HTTP/1.1 101') throw new HttpFault('HPE_INVALID_STATUS')
  return /^HTTP\/1\.[01] 1\d\d$/.test(line + STATUS_LINE.slice(line.length).replaceAll('x', '0'))
}

const { connect } = process.getBuiltinModule('node:tls')

/** What TLS connections to one address share. */
interface TlsState {
  /** Resumes the last TLS session on the next connection. */
  session: Buffer | undefined
  /** Trusted authorities; those of Node if undefined. */
  readonly trust: SecureContext | undefined
}

type Done = (error: Error | undefined, socket: Socket) => void

/**
 * Opens a socket to an address: directly, through the tunnel of its proxy, or to the proxy that takes absolute URLs for it. `done` gets
 * it once it can be used, or the error, one of which is that it did not connect within `connect_ms`. Destroying what is returned ends
 * the attempt.
 */
const openSocket = (address: UpstreamAddress, tls: TlsState, done: Done): Socket =>
  isTunnelled(address) ? throughTunnel(address, tls, done) : direct(address, tls, done)

const direct = (address: UpstreamAddress, tls: TlsState, done: Done): Socket => {
  const { proxy, connect_ms } = address
  const hop = firstHop(address)
  const socket = openHop(hop, tls.trust, hop.secure ? resumption(tls) : {})
  if (hop.secure) keepSession(socket, tls)
  const failure = proxy === undefined ? 'no connection' : `no connection to the proxy ${proxy.label}`
  const timer = setTimeout(() => socket.destroy(new ConnectTimeout(`${failure} within ${connect_ms} ms`)), connect_ms)
  whenConnected(socket, hop.secure, timer, done)
  return socket
}

const throughTunnel = ({ proxy, hostname, port, connect_ms }: UpstreamAddress, tls: TlsState, done: Done): Socket => {
  if (proxy === undefined) throw new TypeError('there is no proxy to make a tunnel')
  let current: Socket
  const timer = setTimeout(
    () => current.destroy(new ConnectTimeout(`no connection through the proxy ${proxy.label} within ${connect_ms} ms`)),
    connect_ms,
  )
  const tunnel = openTunnel({ proxy, hostname, port, trust: tls.trust }, (error) => {
    if (error !== undefined) {
      clearTimeout(timer)
      return done(error, tunnel)
    }
    current = connect({ socket: tunnel, ...secureOptions(hostname, tls.trust), ...resumption(tls) })
    keepSession(current, tls)
    whenConnected(current, true, timer, done)
  })
  current = tunnel
  return tunnel
}

/** Tells once whether a socket has connected. */
const whenConnected = (socket: Socket, secure: boolean, timer: NodeJS.Timeout, done: Done): void => {
  let reason: Error | undefined
  const failed = (error: Error): void => {
    reason = error
  }
  const closed = (): void => {
    clearTimeout(timer)
    done(reason ?? new ConnectionClosed(), socket)
  }
  socket.once('error', failed).once('close', closed)
  socket.once(secure ? 'secureConnect' : 'connect', () => {
    clearTimeout(timer)
    socket.off('error', failed).off('close', closed)
    done(undefined, socket)
  })
}

const resumption = ({ session }: TlsState): ConnectionOptions => (session === undefined ? {} : { session })

/** Keeps the newest TLS session until a connection fails. */
const keepSession = (socket: Socket, tls: TlsState): void => {
  socket.on('session', (fresh: Buffer) => {
    tls.session = fresh
  })
  socket.on('error', ({ code }: NodeJS.ErrnoException) => {
    // undici ends connections with an error of its own
    if (code?.startsWith('UND_ERR_') !== true) tls.session = undefined
  })
}
