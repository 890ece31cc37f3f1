import type { ProxyAddress } from 'guard-gateway/lib/upstream-client'
import { connectionFault } from './connection-fault.ts'

/** A proxy that did not lead to the upstream; the message names it, without its login. */
export class ProxyFault extends Error {
  readonly code: 'PROXY_UNREACHABLE' | 'PROXY_LOGIN' | 'PROXY_REFUSED' | 'PROXY_BROKEN'
  constructor(code: ProxyFault['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** Why a proxy cannot be reached, out of what the system or TLS says. */
export const unreachableProxy = ({ shown }: ProxyAddress, error: NodeJS.ErrnoException): ProxyFault =>
  new ProxyFault('PROXY_UNREACHABLE', `the proxy ${shown} cannot be reached: ${connectionFault(error).what}`, error)

/** What a status other than 2xx says that a proxy gives in its own name. */
export const refusingProxy = ({ shown, authorization }: ProxyAddress, status: number, place: string): ProxyFault => {
  if (status !== 407)
    return new ProxyFault('PROXY_REFUSED', `the proxy ${shown} opens no connection to ${place}: it answered ${status}`)
  const why = authorization === undefined ? 'wants a login' : 'refuses the login it was shown'
  return new ProxyFault(
    'PROXY_LOGIN',
    `the proxy ${shown} ${why} (407); its address takes one, as http://user:password@host:port`,
  )
}

/** The proxy speaks something else than HTTP, or says no more. */
export const brokenProxy = ({ shown }: ProxyAddress, what: string): ProxyFault =>
  new ProxyFault('PROXY_BROKEN', `the proxy ${shown} ${what}`)
