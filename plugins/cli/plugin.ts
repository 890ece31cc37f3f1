import type { Plugin } from 'guard-gateway/core'
import { commandKind } from 'guard-gateway/lib/command'
import { completion } from './completion/index.ts'
import { explain } from './explain.ts'
import { cliErrors } from './fault.ts'

/** The commands that belong to the command line itself. */
export const cli = (): Plugin => ({
  name: 'cli',
  apply(gateway) {
    gateway.errorCodes.add(...Object.values(cliErrors))
    for (const command of [explain(gateway), completion(gateway)]) gateway.registry(commandKind).add(command)
  },
})
