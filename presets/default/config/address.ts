import type { Config } from './schema.ts'

/** Local address of a gateway with this configuration. */
export const addressOf = ({ server: { host, port, tls } }: Pick<Config, 'server'>): string =>
  `${tls.cert === '' ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`
