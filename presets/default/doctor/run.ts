import { GuardError } from 'guard-gateway/core'
import type { Input, Io } from 'guard-gateway/lib/command'
import { verdictSymbols } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import { findGateway, paint } from 'guard-gateway/plugins/cli'
import { profiles as clients, type Profile, profileOf } from 'guard-gateway/plugins/clients'
import type { Refuse } from '../config/config-errors.ts'
import type { Config } from '../config/schema.ts'
import { loadConfig } from '../config.ts'
import { gatewayLocation } from '../gateway-location.ts'
import { createGateway } from '../index.ts'
import { blocks } from './blocks.ts'
import { type Check, type CheckContext, type Finding, reason } from './check.ts'
import { checksOf } from './client.ts'
import { configuration, key } from './configuration.ts'
import { address, node, storage } from './machine.ts'
import { mcpPolicy, mcpServers } from './mcp.ts'
import { network } from './network.ts'
import { plugins } from './plugins.ts'
import { policies } from './policies.ts'
import { profiles } from './profiles.ts'
import { tls } from './tls.ts'
import { clock, mode, pricing, upstreams } from './traffic.ts'

const PROBE_MS = 1_000

const checks: readonly Check[] = [
  node,
  configuration,
  key,
  address,
  tls,
  storage,
  plugins,
  clock,
  mode,
  policies,
  blocks,
  network,
  upstreams,
  pricing,
  mcpPolicy,
  mcpServers,
  profiles,
]

const colours = { ok: 'green', warning: 'yellow', error: 'red' } as const

/** Runs `guard doctor`. Resolves to its exit code. */
export const runDoctor = async (file: string, { args: [client], options }: Input, io: Io): Promise<number> => {
  const selected = client === undefined ? checks : [configuration, key, ...checksOf(clientOf(client))]
  const findings: Finding[] = []
  const report = (finding: Finding) => {
    findings.push(finding)
    if (options.json !== true) io.out.write(`${lineOf(finding, options, io)}\n`)
  }
  await examine(selected, await checkContext(file, options, io), report)
  if (options.json === true) io.out.write(`${JSON.stringify({ findings })}\n`)
  return findings.some(({ level }) => level === 'error') ? 1 : 0
}

const lineOf = ({ level, what, fix }: Finding, options: Input['options'], io: Io): string => {
  const { ok, bad, so } = verdictSymbols(io)
  const symbol = paint(colours[level], { ok, warning: '!', error: bad }[level], options, io, io.out)
  return `${symbol} ${terminalLine(what)}${fix === undefined ? '' : `\n  ${so} ${terminalLine(fix)}`}`
}

/** Profile of a client. Throws USAGE for an unknown one. */
const clientOf = (name: string): Profile => {
  const base = clients.map(({ id }) => id)
  const found = profileOf(name)
  if (found.id === name || found.commands.includes(name)) return found
  throw new GuardError('USAGE', `There is no client "${name}"; there is ${base.join(', ')}.`, { known: base })
}

const examine = async (
  selected: readonly Check[],
  context: CheckContext,
  report: (finding: Finding) => void,
): Promise<void> => {
  try {
    for (const check of selected) {
      try {
        for (const finding of await check(context)) report(finding)
      } catch (thrown) {
        report({ level: 'error', what: `a check failed: ${reason(thrown)}`, fix: 'Run with --verbose and report it.' })
      }
    }
  } finally {
    await context.gateway?.close()
  }
}

/** Collects the input of the checks. Never throws. */
const checkContext = async (file: string, options: Input['options'], io: Io): Promise<CheckContext> => {
  const base = { io, options, file }
  try {
    const { config, warnings, routes, environmentErrors, refuse } = await loadConfig(file, io.env)
    const location = gatewayLocation(config, file)
    const url = (await findGateway(location).catch(() => undefined)) ?? location.address
    const health = await healthAt(url)
    const opened = await open(config, refuse)
    return {
      ...base,
      config,
      configError: undefined,
      warnings,
      routes,
      environmentErrors,
      address: url,
      health,
      ...opened,
    }
  } catch (configError) {
    const none = {
      config: undefined,
      warnings: [],
      routes: [],
      environmentErrors: [],
      address: '',
      health: undefined,
      gateway: undefined,
    }
    return { ...base, ...none, configError, unopened: configError }
  }
}

const open = async (config: Config, refuse: Refuse): Promise<Pick<CheckContext, 'gateway' | 'unopened'>> => {
  try {
    return { gateway: await (await createGateway(config, [], refuse)).open({ beside: true }), unopened: undefined }
  } catch (unopened) {
    return { gateway: undefined, unopened }
  }
}

const healthAt = async (url: string): Promise<CheckContext['health']> => {
  try {
    const answer = await fetch(`${url}/api/health`, { signal: AbortSignal.timeout(PROBE_MS) })
    return answer.ok ? ((await answer.json()) as CheckContext['health']) : undefined
  } catch {
    return undefined
  }
}
