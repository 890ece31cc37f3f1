import type { Place } from 'guard-gateway/plugins/cli'
import { holdersAddress } from 'guard-gateway/plugins/storage/sqlite'
import type { Config } from './config/schema.ts'

/** Where a gateway of this configuration listens, seen from this machine. */
export const addressOf = ({ server: { host, port } }: Pick<Config, 'server'>): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Where commands look for the gateway of a configuration, which was read from `file`. */
export const placeOf = (config: Config, file: string): Place => ({
  address: addressOf(config),
  gateway_key: config.gateway_key,
  config: file,
  elsewhere: async () =>
    config.storage.backend === 'sqlite' && config.preset !== 'minimal'
      ? holdersAddress(config.storage.file)
      : undefined,
})
