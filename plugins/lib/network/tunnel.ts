import { isIP, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { ProxyAddress } from 'guard-gateway/lib/upstream-client'
import { type ConnectReply, ConnectReplyReader } from './connect-reply.ts'
import { openSocket } from './first-hop.ts'
import { brokenProxy, ProxyFault, refusingProxy, unreachableProxy } from './proxy-fault.ts'

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
