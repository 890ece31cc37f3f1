import type { Socket } from 'node:net'
import { openSocket, openTunnel, secureOptions, trustOf } from 'guard-gateway/lib/network'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'

/** No connection in time. */
class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT'
}

/** Opens a connection to an address, through a tunnel where a proxy is on the way. `made` is told once. */
export const openConnection = (
  address: UpstreamAddress,
  made: (error: Error | null, socket?: Socket) => void,
): void => {
  const { proxy, secure, hostname, port, connect_ms } = address
  const trust = trustOf(address)
  let current: Socket
  const way = proxy === undefined ? '' : ` through the proxy ${proxy.shown}`
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
