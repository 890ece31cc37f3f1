import type { Plugin } from 'guard-gateway/core'
import { commandKind } from 'guard-gateway/lib/command'
import { serviceCommands } from './commands.ts'
import { serviceErrors } from './error-codes.ts'
import type { ServiceOptions } from './setting.ts'

export type { ServiceConfig, ServiceOptions } from './setting.ts'

/** Runs the gateway as a service of its user. */
export const service = (options: ServiceOptions): Plugin => ({
  name: 'service',
  apply(gateway) {
    gateway.errorCodes.add(...Object.values(serviceErrors))
    for (const command of serviceCommands(options)) gateway.registry(commandKind).add(command)
  },
})
