import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { accessCommands } from 'guard-gateway/plugins/access'
import { bench } from 'guard-gateway/plugins/bench'
import {
  asking,
  type GatewayLocation,
  printNotice,
  printWarning,
  requireGateway,
  type Work,
} from 'guard-gateway/plugins/cli'
import { clients } from 'guard-gateway/plugins/clients'
import { checkHost, gatewayRun } from 'guard-gateway/plugins/http'
import { mcpCommands } from 'guard-gateway/plugins/mcp'
import { notifyCommands } from 'guard-gateway/plugins/notify'
import { playgroundCommands } from 'guard-gateway/plugins/playground'
import { policyCommands } from 'guard-gateway/plugins/policy'
import { reportCommands } from 'guard-gateway/plugins/recorder'
import { replayCommands, replayMcpCommand } from 'guard-gateway/plugins/replay'
import { service } from 'guard-gateway/plugins/service'
import { sessionCommands } from 'guard-gateway/plugins/sessions'
import { APPROVER_HEADER } from '#lib/approver'
import { type AskJson, type Command, commandKind, type Input, type Io } from '#lib/command'
import { readJson } from '#lib/json'
import { showInBrowser } from '#lib/terminal'
import { configFor, located } from './command-config.ts'
import { calledAs, ownCommand } from './command-prefix.ts'
import { mcpErrors } from './config/checks-mcp.ts'
import { type Refuse, refusal } from './config/config-errors.ts'
import { emptyConfig } from './config/defaults.ts'
import { withOverrides } from './config/overrides.ts'
import { doctor } from './doctor/index.ts'
import { isTestedEngine } from './engine.js'
import { type FirstRun, writeFirstConfig } from './first-run.ts'
import { gatewayLocation } from './gateway-location.ts'
import { idleHeap } from './idle-heap.ts'
import { type Config, createGateway } from './index.ts'
import { facts, firstRunText, nextSteps, withheldFromServers } from './messages.ts'
import { shippedPolicies, shippedRules } from './policies.ts'
import { reload } from './reload.ts'
import { startFlags } from './restart.js'
import { serviceOptions } from './service-options.ts'
import { version } from './version.ts'

/** A gateway with all commands. It reads no configuration. */
export const withCommands = (io: Io): Promise<Gateway> =>
  withRun({ config: emptyConfig(), refuse: refusal(), builtIn: true, ...located({}, io) }, io)

/** The configured gateway for one command. The first start writes a configuration. */
export const configured = async (options: Input['options'], command: Command | undefined, io: Io): Promise<Gateway> => {
  const { file, named } = located(options, io)
  const first = command?.id === 'gateway run' ? await firstRun(options, io) : undefined
  const loaded = await configFor(command, options, io)
  const config = withOverrides(loaded.config, options, io.cwd, command?.id, io.env)
  if (command?.id === 'gateway run' || command?.id === 'mcp serve') loaded.refuse(loaded.environmentErrors)
  // the errors of the file itself were reported by its loader
  const [error] = mcpErrors(config)
  if (error !== undefined) throw new GuardError('USAGE', `--server ${String(error.path[2])}: ${error.message}.`)
  for (const warning of loaded.warnings) printWarning(warning, options, io)
  const approver_key = options.approverKey === undefined ? undefined : String(options.approverKey)
  const leftOut = command === undefined ? undefined : (message: string) => printWarning(message, options, io)
  const context = { ...loaded, config, file, named, command, first, approver_key }
  const gateway = await withRun(leftOut === undefined ? context : { ...context, notice: leftOut }, io)
  const withheld =
    command?.id === 'gateway run' || command?.id === 'mcp serve' ? withheldFromServers(config, gateway, io) : ''
  if (withheld !== '') printNotice(withheld, options, io)
  if (command?.id !== 'gateway run') return gateway
  const done = (message: string) => printNotice(message, options, io)
  const notice = (message: string) => printWarning(message, options, io)
  return gateway.use(reload({ file, env: io.env, live: config, started: loaded.config, done, notice }), idleHeap)
}

/** Writes a configuration if none exists and none is named, or if `--init` is set. */
const firstRun = async (options: Input['options'], io: Io): Promise<FirstRun | undefined> => {
  const { file, named } = located(options, io)
  if (options.init !== true && (named || existsSync(file))) return undefined
  // invalid flags must not leave a file
  checkHost(withOverrides(emptyConfig(), options, io.cwd).server, options)
  const first = await writeFirstConfig(file)
  const notice = firstRunText(first, io.cwd)
  io.err.write(`${options.json === true ? JSON.stringify({ notice }) : notice}\n`)
  return first
}

interface CommandContext {
  readonly config: Config
  readonly refuse: Refuse
  /** No configuration file exists. */
  readonly builtIn: boolean
  readonly file: string
  /** The user named the file. */
  readonly named: boolean
  readonly command?: Command | undefined
  readonly first?: FirstRun | undefined
  /** Approver key from the command line. */
  readonly approver_key?: string | undefined
  /** Gets a line for each plugin that is left out. */
  readonly notice?: (message: string) => void
}

/** Creates the gateway of a configuration with its commands. */
const withRun = async (
  { config, refuse, builtIn, file, named, command, first, approver_key, notice }: CommandContext,
  io: Io,
): Promise<Gateway> => {
  if (config.preset === 'mcp-stdio')
    return withOwnFiles(await createGateway(config, [], refuse, undefined, notice), config, file)
  const prefix = calledAs(io, { file, named })
  const run = gatewayRun({
    version,
    server: config.server,
    facts: (served) => facts(served, config, io.cwd),
    also: [mcpServe],
    show: showInBrowser,
    ...(first === undefined ? {} : { next: nextSteps(first, io.cwd, prefix.here) }),
  })
  const gateway = withOwnFiles(await createGateway(config, [run], refuse, undefined, notice), config, file)
  gateway.calledAs = prefix
  gateway.registry(commandKind).add(doctor((options) => located(options, io).file))
  const location = gatewayLocation(config, file)
  const target = {
    place: builtIn ? undefined : location,
    durable: config.storage.backend !== 'memory' || command?.unconfigured === 'memory',
    key: io.env.GUARD_ACCESS_KEY,
  }
  const inJson = jsonWork(approver_key ?? io.env.GUARD_APPROVER_KEY)
  let isUsed = false
  gateway.service('records').provide(async (work) => {
    // a gateway opens once; each further time has one of its own
    const opened = isUsed ? await createGateway(config, [], refuse) : gateway
    isUsed = true
    return asking(opened, target, inJson(work))
  })
  const beside = <T>(work: JsonWork<T>) => asking(gateway, { ...target, place: undefined }, inJson(work))
  gateway.use(accessCommands({ asking: (work) => asking(gateway, target, inJson(work)), beside }))
  if (config.preset !== 'minimal') {
    const inMemory = { ...config, storage: { ...config.storage, backend: 'memory' as const } }
    const opened = () => createGateway(inMemory, [], refuse)
    addClientCommands(gateway, location, (work) => asking(gateway, target, work), inJson, opened)
  }
  return gateway.use(
    service(serviceOptions()),
    clients({
      ...location,
      authority: config.server.tls.ca || config.server.tls.cert,
      upstreams: config.upstreams,
      allow_mode_header: config.server.allow_mode_header,
      guard: ownCommand(),
      gateway_flags: isTestedEngine() ? startFlags() : [],
      calledAs: prefix.here,
      running: (instead) => requireGateway(location, instead),
      asking: (work) => asking(gateway, target, inJson(work)),
    }),
  )
}

/** The gateway's own files are the configuration and the database, whatever their names. */
const withOwnFiles = (gateway: Gateway, { storage }: Config, file: string): Gateway => {
  gateway.ownFiles
    .add(file)
    .add(resolve(storage.file))
    .add(`${resolve(storage.file)}.login-key`)
  return gateway
}

/** Adds the commands that call the API of a gateway. */
const addClientCommands = (
  gateway: Gateway,
  location: GatewayLocation,
  ask: <T>(work: Work<T>) => Promise<T>,
  inJson: ReturnType<typeof jsonWork>,
  inMemory: () => Promise<Gateway>,
): void => {
  const inText = { asking: ask, running: () => requireGateway(location) }
  const json = { ...inText, asking: <T>(work: JsonWork<T>) => ask(inJson(work)) }
  gateway.use(
    replayCommands(inText),
    replayMcpCommand({ asking: ask, key: location.gateway_key }),
    mcpCommands(ask),
    playgroundCommands(json),
    sessionCommands(json),
    notifyCommands(json),
    reportCommands(json),
    policyCommands({
      ...json,
      presets: async () => (await shippedRules()).presets,
      opened: async (work) => {
        const opened = await inMemory()
        await opened.open({ beside: true })
        try {
          return await work(opened)
        } finally {
          await opened.close()
        }
      },
      summaries: shippedPolicies,
      calledAs: gateway.calledAs.here,
    }),
    bench(json),
  )
}

type JsonWork<T> = (ask: AskJson, address: string | undefined) => Promise<T>

/** Adapts work that uses JSON, and sends the approver key if there is one. */
const jsonWork = (approver_key: string | undefined) => {
  const headers = approver_key === undefined ? {} : { [APPROVER_HEADER]: approver_key }
  return <T>(work: JsonWork<T>): Work<T> =>
    (ask, address) =>
      work(async (method, path, body) => {
        const sent = body === undefined ? undefined : JSON.stringify(body)
        const answer = await text(await ask(method, path, sent, headers))
        return answer === '' ? undefined : readJson(answer)
      }, address)
}

const mcpServe = {
  id: 'mcp serve',
  summary: 'serve MCP servers over HTTP through the permission proxy, without model routes',
  options: {
    '--policy <file>': 'policy file; mcp.policy of the configuration if absent',
    '--server <id=address...>': 'a server that speaks Streamable HTTP, beside those of the configuration',
    '--host <address>': 'listen here instead of server.host',
    '--port <number>': 'listen here instead of server.port; 0 lets the system choose',
    '--allow-remote': 'let other machines reach the gateway, which then asks for keys with scopes',
  },
  example: ['guard mcp serve', 'guard mcp serve --policy policy.yml --server docs=http://127.0.0.1:3000/mcp'],
}
