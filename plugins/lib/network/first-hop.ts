import { isIP, type Socket, type TcpNetConnectOpts } from 'node:net'
import type { ConnectionOptions, SecureContext } from 'node:tls'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'

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
