import type { Plugin } from 'guard-gateway/core'
import { commandKind } from 'guard-gateway/lib/command'
import { countRuns } from './agent-runs.ts'
import { clientErrors } from './error-codes.ts'
import { makeApproverKey } from './key-approver.ts'
import { printKey } from './key-print.ts'
import type { ClientsOptions } from './options.ts'
import { runAgent } from './run.ts'
import { setup } from './setup.ts'
import { status } from './status.ts'
import { statusline } from './statusline.ts'

export type { AskJson as Ask } from 'guard-gateway/lib/command'
export type { ClientsOptions } from './options.ts'
export type { Profile } from './profile.ts'
export { profileOf, profiles } from './profiles/index.ts'
export { upstreamLines } from './upstream-lines.ts'

/** Only the status line, because its client starts it after each change. */
export const statuslineAlone = (options: Pick<ClientsOptions, 'address'>): Plugin => ({
  name: 'clients/statusline',
  apply: (gateway) => gateway.registry(commandKind).add(statusline(options)),
})

/** Writes connection profiles and starts agents through the gateway. */
export const clients = (options: ClientsOptions): Plugin => ({
  name: 'clients',
  apply: (gateway) => {
    gateway.errorCodes.add(...Object.values(clientErrors))
    for (const command of [setup, printKey, makeApproverKey, statusline])
      gateway.registry(commandKind).add(command(options))
    gateway.registry(commandKind).add(status(options, () => gateway.clock.now()))
    gateway.registry(commandKind).add(runAgent(gateway, options))
    countRuns(gateway)
  },
})
