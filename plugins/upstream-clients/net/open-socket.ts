import type { Socket } from 'node:net'
import type { ConnectionOptions, SecureContext } from 'node:tls'
import { firstHop, openSocket, openTunnel, secureOptions } from 'guard-gateway/lib/network'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'
import { ConnectTimeout } from './errors.ts'

const { connect } = process.getBuiltinModule('node:tls')

/** What TLS connections to one address share. */
export interface TlsState {
  /** Resumes the last TLS session on the next connection. */
  session: Buffer | undefined
  /** Trusted authorities; those of Node if undefined. */
  readonly trust: SecureContext | undefined
}

/** Opens a socket to an address, or to the proxy that takes absolute URLs for it. The socket fails if it does not connect within `connect_ms`. */
export const directSocket = (address: UpstreamAddress, tls: TlsState, onData: (bytes: Buffer) => void): Socket => {
  const { proxy, connect_ms } = address
  const onread = { buffer: READ_BUFFER, callback: (length: number) => received(length, onData) }
  const hop = firstHop(address)
  const socket = openSocket(hop, tls.trust, { onread, ...(hop.secure ? resumption(tls) : {}) })
  if (hop.secure) keepSession(socket, tls)
  const failure = proxy === undefined ? 'no connection' : `no connection to the proxy ${proxy.shown}`
  const timer = setTimeout(() => socket.destroy(new ConnectTimeout(`${failure} within ${connect_ms} ms`)), connect_ms)
  const connected = () => clearTimeout(timer)
  socket.once(hop.secure ? 'secureConnect' : 'connect', connected).once('close', connected)
  return socket
}

/**
 * Opens a tunnel to an address that speaks TLS. `done` receives the TLS socket, or the error. Destroying the returned socket before that
 * ends the attempt.
 */
export const tunnelSocket = (
  { proxy, hostname, port, connect_ms }: UpstreamAddress,
  tls: TlsState,
  done: (made: Socket | Error) => void,
): Socket => {
  if (proxy === undefined) throw new TypeError('there is no proxy to make a tunnel')
  let current: Socket
  const timer = setTimeout(
    () => current.destroy(new ConnectTimeout(`no connection through the proxy ${proxy.shown} within ${connect_ms} ms`)),
    connect_ms,
  )
  const tunnel = openTunnel({ proxy, hostname, port, trust: tls.trust }, (error) => {
    if (error !== undefined) {
      clearTimeout(timer)
      return done(error)
    }
    const socket = connect({ socket: tunnel, ...secureOptions(hostname, tls.trust), ...resumption(tls) })
    keepSession(socket, tls)
    socket.once('secureConnect', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
    current = socket
    done(socket)
  })
  current = tunnel
  return tunnel
}

const resumption = ({ session }: TlsState): ConnectionOptions => (session === undefined ? {} : { session })

/** Keeps the newest TLS session until a connection fails. */
const keepSession = (socket: Socket, tls: TlsState): void => {
  socket.on('session', (fresh: Buffer) => {
    tls.session = fresh
  })
  socket.on('error', () => {
    tls.session = undefined
  })
}

/** The read buffer of all sockets, one read at a time: a buffer for each read would be far larger than most chunks. */
const READ_BUFFER = Buffer.allocUnsafeSlow(65_536)

/** Passes a copy of the chunk on; true asks for the next one. */
const received = (length: number, onData: (bytes: Buffer) => void): boolean => {
  const bytes = Buffer.allocUnsafe(length)
  READ_BUFFER.copy(bytes, 0, 0, length)
  onData(bytes)
  return true
}
