import type { Config } from './schema.ts'

/** Local address of a gateway with this configuration. */
export const addressOf = ({ server: { host, port, tls } }: Pick<Config, 'server'>): string =>
  reachable(`${tls.cert === '' ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`)

/** The address of a gateway on this machine: one that listens on every address is called by a loopback name, which it accepts as a host. */
export const reachable = (address: string): string =>
  address.replace('://0.0.0.0:', '://127.0.0.1:').replace('://[::]:', '://[::1]:')
