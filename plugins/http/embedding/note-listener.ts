import type { Socket } from 'node:net'
import { isLoopback } from '../admission/hosts.ts'
import type { HttpServerState } from '../http-server-state.ts'

/**
 * Takes from a connection what only the server of a host application knows: the port, and whether other machines reach it.
 * Once one has, whoever administers must show a key.
 */
export const noteListener = (state: HttpServerState, { localAddress, localPort }: Socket): void => {
  if (localPort !== undefined) state.port = localPort
  if (localAddress !== undefined && !isLoopback(localAddress.replace(MAPPED, ''))) state.isBeyondLoopback = true
}

/** An address of IPv4 on a socket of IPv6. */
const MAPPED = /^::ffff:/i
