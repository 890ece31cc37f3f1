import type { GatewayLocation } from 'guard-gateway/plugins/cli'
import { holdersAddress } from 'guard-gateway/plugins/storage/sqlite'
import { addressOf } from './config/address.ts'
import type { Config } from './config/schema.ts'

/** Where commands look for the gateway of a configuration, which was read from `file`. */
export const gatewayLocation = (config: Config, file: string): GatewayLocation => ({
  address: addressOf(config),
  gateway_key: config.gateway_key,
  config: file,
  elsewhere: async () =>
    config.storage.backend === 'sqlite' && config.preset !== 'minimal'
      ? holdersAddress(config.storage.file)
      : undefined,
})
