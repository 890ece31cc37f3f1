import type { Plugin } from 'guard-gateway/core'
import { type Command, commandKind } from '#lib/command'
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

/** `guard service …`: the gateway as a service of this user. */
export const serviceCommands = (options: ServiceOptions): readonly Command[] => [
  {
    id: 'service install',
    summary: 'run the gateway for good, as a service of yours: systemd on Linux, launchd on macOS',
    options: {
      '--env <name...>': 'copy this variable, such as a provider key, from here into the keys file of the service',
      '--data <path>': 'keep the database in this folder, or in this file',
      '--print': 'show the file of the service, and write and start nothing',
      '--force': 'replace a file of the service that was edited',
    },
    example: [
      'guard service install',
      'guard service install --env ANTHROPIC_API_KEY',
      'guard service install --print',
    ],
    standalone: true,
    run: async (input, io) => (await import('./actions.ts')).install(options, input, io),
  },
  {
    id: 'service status',
    summary: 'say whether the service is installed and runs, since when, at which address, and where its log is',
    example: ['guard service status', 'guard service status --json'],
    standalone: true,
    run: async (input, io) => (await import('./actions.ts')).status(options, input, io),
  },
  {
    id: 'service remove',
    summary: 'stop the service and remove its file; configuration, database and keys stay',
    options: { '--force': 'remove a file of the service that was edited, too' },
    example: ['guard service remove', 'guard service remove --force'],
    standalone: true,
    run: async (input, io) => (await import('./actions.ts')).remove(options, input, io),
  },
]
