import type { UpstreamAddress } from '#lib/upstream-client'
import { proxyAddress } from './proxy-address.ts'

/** What is said of the way to an address. */
export interface UpstreamRoute {
  /** Address of a proxy; `none` or absent: there is none on the way. */
  readonly proxy?: string
  /** Authorities that are trusted beside those of Node: certificates as PEM. */
  readonly ca?: readonly string[]
}

/**
 * Where the server of an address is reached, by `http` or `https`, and how; the port is that of the scheme unless it has one.
 * Throws TypeError for a proxy that is none.
 */
export const upstreamAddress = (
  { protocol, hostname, port }: URL,
  limits: Pick<UpstreamAddress, 'connect_ms' | 'idle_ms'>,
  { proxy = 'none', ca = [] }: UpstreamRoute = {},
): UpstreamAddress => {
  const secure = protocol === 'https:'
  return {
    secure,
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port === '' ? (secure ? 443 : 80) : port),
    ...(proxy === 'none' ? {} : { proxy: proxyAddress(proxy) }),
    ...(ca.length === 0 ? {} : { ca }),
    ...limits,
  }
}
