import type { UpstreamAddress } from './contracts/upstream-client.ts'

/** Where the server of an address is reached, by `http` or `https`; the port is that of the scheme unless it has one. */
export const upstreamAddress = (
  { protocol, hostname, port }: URL,
  limits: Pick<UpstreamAddress, 'connect_ms' | 'idle_ms'>,
): UpstreamAddress => {
  const secure = protocol === 'https:'
  return {
    secure,
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port === '' ? (secure ? 443 : 80) : port),
    ...limits,
  }
}
