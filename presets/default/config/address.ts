import type { Config } from './schema.ts'

/** Where a gateway of this configuration listens, seen from this machine. */
export const addressOf = ({ server: { host, port } }: Pick<Config, 'server'>): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`
