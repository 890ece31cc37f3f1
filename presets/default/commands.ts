import { text } from 'node:stream/consumers'
import { type Command, type Gateway, type Input, type Io, readJson } from 'guard-gateway/core'
import { bench } from 'guard-gateway/plugins/bench'
import { printWarning } from 'guard-gateway/plugins/cli'
import { clients } from 'guard-gateway/plugins/clients'
import { gatewayRun } from 'guard-gateway/plugins/http'
import { mcpCommands } from 'guard-gateway/plugins/mcp'
import { playgroundCommands } from 'guard-gateway/plugins/playground'
import { policyCommands } from 'guard-gateway/plugins/policy'
import { asking, replayCommands } from 'guard-gateway/plugins/replay'
import { sessionCommands } from 'guard-gateway/plugins/sessions'
import { configFor, exists, located } from './command-config.ts'
import { emptyConfig } from './defaults.ts'
import { doctor } from './doctor/index.ts'
import { type FirstRun, writeFirstConfig } from './first-run.ts'
import { type Config, createGateway } from './index.ts'
import { facts, firstRunText, nextSteps } from './messages.ts'
import { overridden } from './overrides.ts'
import { shippedRules } from './policies.ts'
import { reload } from './reload.ts'
import { version } from './version.ts'

/** A gateway with every command there is; nothing is read to make it. */
export const withCommands = (io: Io): Promise<Gateway> => withRun(emptyConfig(), io, located({}, io).file)

/** The gateway of the configuration, with its commands, made for one of them. The first start writes a configuration. */
export const configured = async (options: Input['options'], command: Command | undefined, io: Io): Promise<Gateway> => {
  const { file } = located(options, io)
  const first = command?.id === 'gateway run' ? await firstRun(options, io) : undefined
  const loaded = await configFor(command, options, io)
  const config = overridden(loaded.config, options, io.cwd, command?.id)
  for (const warning of loaded.warnings) printWarning(warning, options, io)
  const gateway = await withRun(config, io, file, command, first)
  if (command?.id !== 'gateway run') return gateway
  const notice = (message: string) => printWarning(message, options, io)
  return gateway.use(reload({ file, env: io.env, live: config, started: loaded.config, notice }))
}

/** Writes a configuration where nobody named one and there is none, or where one was asked for. */
const firstRun = async (options: Input['options'], io: Io): Promise<FirstRun | undefined> => {
  const { file, named } = located(options, io)
  if (options.init !== true && (named || (await exists(file)))) return undefined
  const first = await writeFirstConfig(file)
  io.err.write(`${firstRunText(first, io.cwd)}\n`)
  return first
}

/** Sends JSON to the interface and gives the answer's body. */
type Ask = (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => Promise<unknown>

/** The gateway of a configuration, with the commands that serve it, ask it and start what uses it. */
const withRun = async (config: Config, io: Io, file: string, command?: Command, first?: FirstRun): Promise<Gateway> => {
  if (config.preset === 'mcp-stdio') return createGateway(config)
  const where = whereToAsk(config)
  const gateway = await createGateway(config, [
    gatewayRun({
      version,
      server: config.server,
      facts: facts(config, io.cwd),
      also: [mcpServe],
      ...(first === undefined ? {} : { next: nextSteps(first, io.cwd, calledAs(io)) }),
    }),
    ...(config.preset === 'minimal'
      ? []
      : [replayCommands(where), mcpCommands((asked, work) => asking(asked, where, work))]),
  ])
  gateway.commands.add(
    doctor(
      (options) => located(options, io).file,
      (loaded) => whereToAsk(loaded).address,
    ),
  )
  const asked = <T>(work: (ask: Ask) => Promise<T>): Promise<T> =>
    asking(gateway, command?.unconfigured === 'memory' ? { ...where, durable: true } : where, (ask) =>
      work(async (method, path, body) =>
        readJson(await text(await ask(method, path, body === undefined ? undefined : JSON.stringify(body)))),
      ),
    )
  if (config.preset !== 'minimal') {
    const presets = async () => (await shippedRules()).presets
    gateway.use(
      playgroundCommands({ address: where.address, asking: asked }),
      sessionCommands({ asking: asked }),
      policyCommands({ asking: asked, presets }),
      bench({ asking: asked }),
    )
  }
  return gateway.use(
    clients({
      address: where.address,
      gateway_key: config.gateway_key,
      config: file,
      allow_mode_header: config.server.allow_mode_header,
      guard: ownCommand(),
      asking: asked,
    }),
  )
}

const mcpServe = {
  id: 'mcp serve',
  summary: 'serve MCP servers over HTTP through the permission proxy, without model routes',
  options: {
    '--policy <file>': 'policy file; mcp.policy of the configuration if absent',
    '--server <id=address...>': 'a server that speaks Streamable HTTP, beside those of the configuration',
    '--host <address>': 'listen here instead of server.host',
    '--port <number>': 'listen here instead of server.port; 0 lets the system choose',
    '--allow-remote': 'let other machines reach the gateway; its administration pages have no login',
  },
  example: 'guard mcp serve --policy policy.yml --server docs=http://127.0.0.1:3000/mcp',
}

/** How whoever started this calls the program: from a clone through npm. */
const calledAs = ({ env }: Io): string => (env.npm_lifecycle_event === undefined ? 'guard' : 'npm run -s guard --')

/** Words that start this program again. */
const ownCommand = (): readonly string[] => [
  process.execPath,
  ...process.execArgv.filter((word) => word.startsWith('--conditions=')),
  process.argv[1] ?? 'guard',
]

/** Where a gateway of this configuration listens, seen from this machine. */
const whereToAsk = ({ server: { host, port }, storage }: Config) => ({
  address: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
  durable: storage.backend !== 'memory',
})
