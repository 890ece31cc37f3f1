import type { Socket } from 'node:net'
import type { ConnectionOptions, SecureContext } from 'node:tls'
import { firstHop, isTunnelled, openSocket as openHop, openTunnel, secureOptions } from 'guard-gateway/lib/network'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'
import { ConnectionClosed, ConnectTimeout } from './errors.ts'

const { connect } = process.getBuiltinModule('node:tls')

/** What TLS connections to one address share. */
export interface TlsState {
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
export const openSocket = (address: UpstreamAddress, tls: TlsState, done: Done): Socket =>
  isTunnelled(address) ? throughTunnel(address, tls, done) : direct(address, tls, done)

const direct = (address: UpstreamAddress, tls: TlsState, done: Done): Socket => {
  const { proxy, connect_ms } = address
  const hop = firstHop(address)
  const socket = openHop(hop, tls.trust, hop.secure ? resumption(tls) : {})
  if (hop.secure) keepSession(socket, tls)
  const failure = proxy === undefined ? 'no connection' : `no connection to the proxy ${proxy.shown}`
  const timer = setTimeout(() => socket.destroy(new ConnectTimeout(`${failure} within ${connect_ms} ms`)), connect_ms)
  whenConnected(socket, hop.secure, timer, done)
  return socket
}

const throughTunnel = ({ proxy, hostname, port, connect_ms }: UpstreamAddress, tls: TlsState, done: Done): Socket => {
  if (proxy === undefined) throw new TypeError('there is no proxy to make a tunnel')
  let current: Socket
  const timer = setTimeout(
    () => current.destroy(new ConnectTimeout(`no connection through the proxy ${proxy.shown} within ${connect_ms} ms`)),
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
