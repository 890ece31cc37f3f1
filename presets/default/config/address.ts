import type { Config } from './schema.ts'

/** Local address of a gateway with this configuration. */
export const addressOf = ({ server: { host, port } }: Pick<Config, 'server'>): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`
