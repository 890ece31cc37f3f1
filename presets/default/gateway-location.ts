import type { GatewayLocation } from 'guard-gateway/plugins/cli'
import { holdersAddress } from 'guard-gateway/plugins/storage/sqlite'
import { addressOf, reachable } from './config/address.ts'
import type { Config } from './config/schema.ts'

/** Address and key of the gateway that runs with a configuration. `file` is the configuration's path. */
export const gatewayLocation = (config: Config, file: string): GatewayLocation => ({
  address: addressOf(config),
  gateway_key: config.gateway_key,
  config: file,
  trust: async () => {
    if (config.server.tls.cert !== '') await (await import('./own-certificate.ts')).trustOwnCertificate(config.server)
  },
  elsewhere: async () => {
    if (config.storage.backend !== 'sqlite' || config.preset === 'minimal') return undefined
    const address = await holdersAddress(config.storage.file)
    return address && reachable(address, config.server)
  },
})
