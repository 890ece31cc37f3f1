import { readFile } from 'node:fs/promises'
import { Gateway } from 'guard-gateway/core'
import { begins, printWarning, requireGateway, runCli } from 'guard-gateway/plugins/cli'
import type { Command, Input, Io } from '#lib/command'
import { configFor, located } from './command-config.ts'
import { addressOf } from './config/address.ts'
import { withOverrides } from './config/overrides.ts'
import type { Config } from './config/schema.ts'
import { createGateway } from './gateway.ts'
import { version } from './version.ts'

/** The command line `guard`. Resolves to the exit code. `argv` excludes node and the script. */
export const main = (argv: readonly string[], io: Io): Promise<number> => {
  const { builtIn, configured } = assemblyFor(argv)(io)
  return runCli(argv, io, {
    version,
    builtIn,
    configured,
    address: async (options) => {
      const { gatewayLocation } = await import('./gateway-location.ts')
      const { config } = await configFor(undefined, options, io)
      return requireGateway(gatewayLocation(config, located(options, io).file))
    },
    extended: async (options) => /^plugins:/m.test(await readFile(located(options, io).file, 'utf8').catch(() => '')),
  })
}

/** Commands that other programs start often load only what they need. */
const assemblyFor = (argv: readonly string[]): ((io: Io) => Assembly) => {
  if (begins(argv, 'mcp run')) return mcpProxyAssembly
  return begins(argv, 'statusline') ? statuslineAssembly : fullAssembly
}

/** Creates the gateways of a command line. */
interface Assembly {
  builtIn(): Promise<Gateway>
  configured(options: Input['options'], command: Command | undefined): Promise<Gateway>
}

const fullAssembly = (io: Io): Assembly => ({
  builtIn: async () => (await import('./commands.ts')).withCommands(io),
  configured: async (options, command) => (await import('./commands.ts')).configured(options, command, io),
})

/** MCP clients start `mcp run` for each server and wait for it, so it loads only the proxy. */
const mcpProxyAssembly = (io: Io): Assembly => ({
  async builtIn() {
    const { emptyConfig } = await import('./config/defaults.ts')
    return createGateway({ ...emptyConfig(), preset: 'mcp-stdio' })
  },
  async configured(options, command) {
    const { config, warnings, refuse } = await configFor(command, options, io)
    for (const warning of warnings) printWarning(warning, options, io)
    const notice = (message: string) => printWarning(message, options, io)
    return createGateway(withOverrides(config, options, io.cwd, command?.id), [], refuse, undefined, notice)
  },
})

/** Claude Code starts `statusline` after each change of a conversation. */
const statuslineAssembly = (io: Io): Assembly => ({
  builtIn: async () => withLine((await import('./config/defaults.ts')).emptyConfig()),
  async configured(options, command) {
    const { config, warnings } = await configFor(command, options, io)
    for (const warning of warnings) printWarning(warning, options, io)
    return withLine(config)
  },
})

const withLine = async (config: Pick<Config, 'server'>): Promise<Gateway> => {
  if (config.server.tls.cert !== '') await (await import('./own-certificate.ts')).trustOwnCertificate(config.server)
  const { statuslineAlone } = await import('guard-gateway/plugins/clients')
  return new Gateway().use(statuslineAlone({ address: addressOf(config) }))
}
