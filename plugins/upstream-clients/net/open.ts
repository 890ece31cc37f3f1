import type { Socket } from 'node:net'
import type { ConnectionOptions, SecureContext } from 'node:tls'
import type { UpstreamAddress } from 'guard-gateway/core'
import { firstHop, openSocket, openTunnel, secureOptions } from 'guard-gateway/lib/network'
import { ConnectTimeout } from './fault.ts'

const { connect } = process.getBuiltinModule('node:tls')

/** What connections to one address share. */
export interface Keeper {
  /** What the other side gave to make the next TLS connection cheaper. */
  session: Buffer | undefined
  /** Whom TLS trusts; Node's own authorities if undefined. */
  readonly trust: SecureContext | undefined
}

/** A socket on its way to an address, or to the proxy that takes whole URLs for it. It ends with an error if it does not arrive in time. */
export const directSocket = (address: UpstreamAddress, keeper: Keeper, take: (bytes: Buffer) => void): Socket => {
  const { proxy, connect_ms } = address
  const onread = { buffer: RECEIVED, callback: (length: number) => received(length, take) }
  const hop = firstHop(address)
  const socket = openSocket(hop, keeper.trust, { onread, ...(hop.secure ? resumed(keeper) : {}) })
  if (hop.secure) remember(socket, keeper)
  const place = proxy === undefined ? 'no connection' : `no connection to the proxy ${proxy.shown}`
  const late = setTimeout(() => socket.destroy(new ConnectTimeout(`${place} within ${connect_ms} ms`)), connect_ms)
  const made = () => clearTimeout(late)
  socket.once(hop.secure ? 'secureConnect' : 'connect', made).once('close', made)
  return socket
}

/**
 * A tunnel on its way to an address behind TLS; `done` is told the socket that speaks TLS with it, or why there is none. What is given
 * at once ends all of it when it is destroyed before that.
 */
export const tunnelSocket = (
  { proxy, hostname, port, connect_ms }: UpstreamAddress,
  keeper: Keeper,
  done: (made: Socket | Error) => void,
): Socket => {
  if (proxy === undefined) throw new TypeError('there is no proxy to make a tunnel')
  let current: Socket
  const late = setTimeout(
    () => current.destroy(new ConnectTimeout(`no connection through the proxy ${proxy.shown} within ${connect_ms} ms`)),
    connect_ms,
  )
  const tunnel = openTunnel({ proxy, hostname, port, trust: keeper.trust }, (error) => {
    if (error !== undefined) {
      clearTimeout(late)
      return done(error)
    }
    const socket = connect({ socket: tunnel, ...secureOptions(hostname, keeper.trust), ...resumed(keeper) })
    remember(socket, keeper)
    socket.once('secureConnect', () => clearTimeout(late)).once('close', () => clearTimeout(late))
    current = socket
    done(socket)
  })
  current = tunnel
  return tunnel
}

const resumed = ({ session }: Keeper): ConnectionOptions => (session === undefined ? {} : { session })

/** Keeps what makes the next TLS connection cheaper, for as long as none has failed. */
const remember = (socket: Socket, keeper: Keeper): void => {
  socket.on('session', (fresh: Buffer) => {
    keeper.session = fresh
  })
  socket.on('error', () => {
    keeper.session = undefined
  })
}

/** What all sockets read into, one at a time: a buffer of its own for each piece would be far larger than most pieces are. */
const RECEIVED = Buffer.allocUnsafeSlow(65_536)

/** Hands a copy of the piece on, and asks for the next one. */
const received = (length: number, take: (bytes: Buffer) => void): boolean => {
  const bytes = Buffer.allocUnsafe(length)
  RECEIVED.copy(bytes, 0, 0, length)
  take(bytes)
  return true
}
