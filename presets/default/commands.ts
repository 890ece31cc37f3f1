import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { APPROVER_HEADER } from 'guard-gateway/lib/approver'
import { type AskJson, type Command, commandKind, type Input, type Io } from 'guard-gateway/lib/command'
import { readJson } from 'guard-gateway/lib/json'
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
import { playgroundCommands, showInBrowser } from 'guard-gateway/plugins/playground'
import { policyCommands } from 'guard-gateway/plugins/policy'
import { replayCommands } from 'guard-gateway/plugins/replay'
import { sessionCommands } from 'guard-gateway/plugins/sessions'
import { configFor, exists, located } from './command-config.ts'
import { calledAs, ownCommand } from './command-prefix.ts'
import { mcpFaults } from './config/checks-mcp.ts'
import { emptyConfig } from './config/defaults.ts'
import { type Refuse, refusal } from './config/faults.ts'
import { withOverrides } from './config/overrides.ts'
import { doctor } from './doctor/index.ts'
import { type FirstRun, writeFirstConfig } from './first-run.ts'
import { gatewayLocation } from './gateway-location.ts'
import { type Config, createGateway } from './index.ts'
import { facts, firstRunText, nextSteps, withheldFromServers } from './messages.ts'
import { shippedPolicies, shippedRules } from './policies.ts'
import { reload } from './reload.ts'
import { version } from './version.ts'

/** A gateway with every command there is; nothing is read to make it. */
export const withCommands = (io: Io): Promise<Gateway> =>
  withRun({ config: emptyConfig(), refuse: refusal(), builtIn: true, ...located({}, io) }, io)

/** The gateway of the configuration, with its commands, made for one of them. The first start writes a configuration. */
export const configured = async (options: Input['options'], command: Command | undefined, io: Io): Promise<Gateway> => {
  const { file, named } = located(options, io)
  const first = command?.id === 'gateway run' ? await firstRun(options, io) : undefined
  const loaded = await configFor(command, options, io)
  const config = withOverrides(loaded.config, options, io.cwd, command?.id, io.env)
  if (command?.id === 'gateway run' || command?.id === 'mcp serve') loaded.refuse(loaded.environmentFaults)
  // those of the file were checked with it
  const [fault] = mcpFaults(config)
  if (fault !== undefined) throw new GuardError('USAGE', `--server ${String(fault.path[2])}: ${fault.message}.`)
  for (const warning of loaded.warnings) printWarning(warning, options, io)
  const approver_key = options.approverKey === undefined ? undefined : String(options.approverKey)
  const gateway = await withRun({ ...loaded, config, file, named, command, first, approver_key }, io)
  const kept =
    command?.id === 'gateway run' || command?.id === 'mcp serve' ? withheldFromServers(config, gateway, io) : ''
  if (kept !== '') printNotice(kept, options, io)
  if (command?.id !== 'gateway run') return gateway
  const done = (message: string) => printNotice(message, options, io)
  const notice = (message: string) => printWarning(message, options, io)
  return gateway.use(reload({ file, env: io.env, live: config, started: loaded.config, done, notice }))
}

/** Writes a configuration where nobody named one and there is none, or where one was asked for. */
const firstRun = async (options: Input['options'], io: Io): Promise<FirstRun | undefined> => {
  const { file, named } = located(options, io)
  if (options.init !== true && (named || (await exists(file)))) return undefined
  // flags that cannot be used leave nothing behind
  checkHost(withOverrides(emptyConfig(), options, io.cwd).server, options)
  const first = await writeFirstConfig(file)
  io.err.write(`${firstRunText(first, io.cwd)}\n`)
  return first
}

/** What a command line knows before its gateway is made. */
interface StatuslineInput {
  readonly config: Config
  readonly refuse: Refuse
  /** Nobody has written the configuration. */
  readonly builtIn: boolean
  readonly file: string
  /** Somebody has named the file. */
  readonly named: boolean
  readonly command?: Command | undefined
  readonly first?: FirstRun | undefined
  /** The approver key of the command line. */
  readonly approver_key?: string | undefined
}

/** The gateway of a configuration, with the commands that serve it, ask it and start what uses it. */
const withRun = async (
  { config, refuse, builtIn, file, named, command, first, approver_key }: StatuslineInput,
  io: Io,
): Promise<Gateway> => {
  if (config.preset === 'mcp-stdio') return owning(await createGateway(config, [], refuse), config, file)
  const called = calledAs(io, { file, named })
  const run = gatewayRun({
    version,
    server: config.server,
    facts: facts(config, io.cwd),
    also: [mcpServe],
    show: showInBrowser,
    ...(first === undefined ? {} : { next: nextSteps(first, io.cwd, called.here) }),
  })
  const gateway = owning(await createGateway(config, [run], refuse), config, file)
  gateway.calledAs = called
  gateway.registry(commandKind).add(doctor((options) => located(options, io).file))
  const place = gatewayLocation(config, file)
  const where = {
    place: builtIn ? undefined : place,
    durable: config.storage.backend !== 'memory' || command?.unconfigured === 'memory',
  }
  const inJson = jsonWork(approver_key ?? io.env.GUARD_APPROVER_KEY)
  if (config.preset !== 'minimal') addAsking(gateway, place, (work) => asking(gateway, where, work), inJson)
  return gateway.use(
    clients({
      ...place,
      upstreams: config.upstreams,
      allow_mode_header: config.server.allow_mode_header,
      guard: ownCommand(),
      calledAs: called.here,
      running: (instead) => requireGateway(place, instead),
      asking: (work) => asking(gateway, where, inJson(work)),
    }),
  )
}

/** Configuration and database are the gateway's own, whatever their names. */
const owning = (gateway: Gateway, { storage }: Config, file: string): Gateway => {
  gateway.ownFiles.add(file).add(resolve(storage.file))
  return gateway
}

/** Adds the commands that ask a gateway. */
const addAsking = (
  gateway: Gateway,
  place: GatewayLocation,
  ask: <T>(work: Work<T>) => Promise<T>,
  inJson: ReturnType<typeof jsonWork>,
): void => {
  const inText = { asking: ask, running: () => requireGateway(place) }
  const json = { ...inText, asking: <T>(work: JsonWork<T>) => ask(inJson(work)) }
  gateway.use(
    replayCommands(inText),
    mcpCommands(ask),
    playgroundCommands(json),
    sessionCommands(json),
    policyCommands({
      ...json,
      presets: async () => (await shippedRules()).presets,
      summaries: shippedPolicies,
      calledAs: gateway.calledAs.here,
    }),
    bench(json),
  )
}

type JsonWork<T> = (ask: AskJson, address: string | undefined) => Promise<T>

/** Lets work speak JSON, with the approver key where one is known. */
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
    '--allow-remote': 'let other machines reach the gateway; its administration pages have no login',
  },
  example: 'guard mcp serve --policy policy.yml --server docs=http://127.0.0.1:3000/mcp',
}
