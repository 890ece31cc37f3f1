import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readdir, readFile, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { GuardError } from 'guard-gateway/core'
import { findGateway, paint, requireGateway } from 'guard-gateway/plugins/cli'
import { profiles as clients, type Profile, profileOf } from 'guard-gateway/plugins/clients'
import { builtInOverrides, checkPort, checkTls, statusOverride } from 'guard-gateway/plugins/http'
import type { Input, Io } from '#lib/command'
import { bytesText } from '#lib/format'
import { ownPluginKind } from '#lib/plugin-options'
import { verdictSymbols } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import { DEFAULT_ENFORCED } from '../config/checks.ts'
import type { Refuse } from '../config/config-errors.ts'
import type { ProxyRoute } from '../config/network.ts'
import type { Config } from '../config/schema.ts'
import { loadConfig } from '../config.ts'
import { gatewayLocation } from '../gateway-location.ts'
import { createGateway } from '../index.ts'
import { version } from '../version.ts'
import { type Check, type CheckContext, error, type Finding, ok, reason, warning } from './check.ts'
import { checksOf } from './client.ts'
import { mcpPolicy, mcpServers } from './mcp.ts'
import { policies } from './policies.ts'
import { reachability } from './reachability.ts'
import { clock, mode, pricing, upstreams } from './traffic.ts'

const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY']

/** Reports proxies and extra certificates, and with `--online` checks that span receivers answer. */
const network: Check = async ({ config, io, routes, environmentErrors, options }) => {
  if (config === undefined) return []
  const receivers = options.online === true ? config.replay.otlp_export : []
  const auditReceivers = options.online === true ? config.mcp.audit_export.filter(({ url }) => url !== undefined) : []
  return [
    ...proxies(
      routes,
      PROXIES.filter((name) => io.env[name]),
    ),
    ...environmentErrors.map(({ message }) => error(message, 'The gateway does not start with it.')),
    ...authorities(routes),
    ...(await extraAuthorities(io.env.NODE_EXTRA_CA_CERTS)),
    ...(await Promise.all(
      auditReceivers.map(({ url = '', ...options }) =>
        reachability('the receiver of audit records', url, options, 'Check url and network.'),
      ),
    )),
    ...(await Promise.all(
      receivers.map((receiver) =>
        reachability('the receiver of spans', receiver.url, receiver, 'Check url and network.'),
      ),
    )),
  ]
}

/** Addresses behind each proxy, and the source of the setting; if configured proxies are unused, the reason. */
const proxies = (routes: readonly ProxyRoute[], named: readonly string[]): readonly Finding[] => {
  const proxied = routes.filter(({ proxy }) => proxy !== undefined)
  const direct = routes.filter(({ proxy, from }) => proxy === undefined && from !== 'no proxy is set')
  return [
    ...proxied.map(({ what, proxy, from }) => ok(`${what} is reached through the proxy ${proxy} (${from})`)),
    ...(named.length === 0 && proxied.length === 0
      ? []
      : direct.map(({ what, from }) => ok(`${what} is reached directly (${from})`))),
  ]
}

/** Each extra certificate once, with its addresses. */
const authorities = (routes: readonly ProxyRoute[]): readonly Finding[] => {
  const places = new Map<string, string[]>()
  for (const { what, ca } of routes) for (const pem of new Set(ca)) places.set(pem, [...(places.get(pem) ?? []), what])
  return [...places].map(([pem, where]) => authority(new X509Certificate(pem), where))
}

const authority = ({ subject, validTo }: X509Certificate, where: readonly string[]): Finding => {
  const name = subject.replaceAll('\n', ', ')
  if (Date.parse(validTo) > Date.now()) return ok(`certificates by ${name} are trusted for ${where.join(', ')}`)
  return warning(`the authority ${name} has expired (${validTo})`, 'Put its new certificate into the file under ca.')
}

/** Node only warns of an unusable file. */
const extraAuthorities = async (file: string | undefined): Promise<readonly Finding[]> => {
  if (!file) return []
  const text = await readFile(file, 'latin1').catch((thrown: NodeJS.ErrnoException) => thrown)
  if (typeof text !== 'string')
    return [warning(`NODE_EXTRA_CA_CERTS names ${file}, which cannot be read (${text.code})`, 'Name the PEM file.')]
  if (!text.includes('-----BEGIN '))
    return [warning(`NODE_EXTRA_CA_CERTS names ${file}, which is no PEM file`, 'Name the PEM file.')]
  return [ok(`certificates by the authorities in NODE_EXTRA_CA_CERTS are trusted: ${file}`)]
}

const SCARCE_BYTES = 1_000_000_000

/** Unsupported Node versions exit before this check. */
const node: Check = () => [ok(`Node ${process.versions.node}`)]

/** Checks that the address is free, or that a gateway of this version uses it and accepts the key. */
const address: Check = async ({ config, file, address: url, health }) => {
  if (config === undefined) return []
  if (health !== undefined) {
    try {
      await requireGateway({ address: url, gateway_key: config.gateway_key, config: file })
    } catch (thrown) {
      return [error(reason(thrown), '--config <file> looks at another configuration.')]
    }
    if (health.version === version) return [ok(`a gateway ${version} answers at ${url}`)]
    return [warning(`a gateway ${String(health.version)} answers at ${url}, this is ${version}`, 'Restart it.')]
  }
  try {
    await checkPort(config.server.host, config.server.port)
    return [ok(`${url} is free; no gateway runs`)]
  } catch (thrown) {
    return [error(reason(thrown), 'Change server.port, or stop the other program.')]
  }
}

/** The database, a plugin file or the MCP policy may prevent the start. */
const openFailure = (thrown: unknown): Finding => {
  if (!(thrown instanceof GuardError))
    return error(`the gateway cannot be opened: ${reason(thrown)}`, 'Run with --verbose and report it.')
  const subject = /^(DATABASE|STORAGE)_/.test(thrown.code) ? 'storage' : 'the gateway cannot be opened'
  return error(`${subject}: ${reason(thrown)}`, `guard explain ${thrown.code} tells more.`)
}

/** Checks that the database opens and the disk has space. */
const storage: Check = async ({ config, gateway, unopened }) => {
  if (config === undefined) return []
  if (gateway === undefined) return [openFailure(unopened)]
  if (config.storage.backend === 'memory')
    return [warning('storage.backend is memory: everything is forgotten at the end', 'Set storage.backend: sqlite.')]
  if (config.storage.backend !== 'sqlite') return [ok(`storage ${config.storage.backend}`)]
  const { bavail, bsize } = await statfs(dirname(config.storage.file))
  const free = bavail * bsize
  return [
    ok(`storage ${config.storage.file}`),
    free < SCARCE_BYTES
      ? warning(`${bytesText(free)} of disk are free`, 'Free some, or lower replay.retention.')
      : ok(`${bytesText(free)} of disk are free`),
  ]
}

/** What the stores of a gateway may hold together. */
const memory: Check = ({ gateway }) => {
  const budget = gateway?.service('memory_budget').get()
  return budget === undefined ? [] : [ok(`memory of stores: up to ${bytesText(budget.bytes)} (memory.budget_bytes)`)]
}

const run = promisify(execFile)
const MIN_KEY = 16

/** Checks that the file exists, is valid, is private to its owner, and is ignored by git. */
const configuration: Check = async ({ file, config, configError, warnings }) => {
  if (config === undefined)
    return [error(reason(configError), 'Correct it, or write one with: guard gateway run --init')]
  const { mode } = await stat(file)
  const open = process.platform !== 'win32' && (mode & 0o077) !== 0
  return [
    ok(`configuration ${file}`),
    // other checks report these two warnings, with a remedy
    ...warnings
      .filter((text) => !text.includes('chmod') && text !== DEFAULT_ENFORCED)
      .map((text) => warning(text, `See ${basename(file)}.`)),
    open
      ? warning(`${file} can be read by others and holds a key`, `chmod 600 ${file}`)
      : ok('configuration readable by you only'),
    (await isTrackedByGit(file))
      ? warning(`git would commit ${file}`, `echo ${basename(file)} >> .gitignore`)
      : ok('configuration out of sight of git'),
  ]
}

/** Checks the length of the key. */
const key: Check = ({ config, file }) => {
  if (config === undefined) return []
  const { length } = config.gateway_key
  if (length >= MIN_KEY) return [ok('gateway key')]
  return [
    warning(`the gateway key has ${length} characters and can be guessed`, `Put a longer one into ${basename(file)}.`),
  ]
}

const isTrackedByGit = async (file: string): Promise<boolean> => {
  try {
    const cwd = dirname(file)
    const { stdout } = await run('git', ['-C', cwd, 'rev-parse', '--is-inside-work-tree'])
    if (stdout.trim() !== 'true') return false
    return !(await run('git', ['-C', cwd, 'check-ignore', file]).then(
      () => true,
      () => false,
    ))
  } catch {
    return false
  }
}

/** Clients that get another status than 429 or 409 for a block: built-in and configured entries. */
const blocks: Check = ({ config }) => {
  if (config === undefined) return []
  const own = config.server.block_status_override
  const statusOf = statusOverride(own)
  const inForce = builtInOverrides.filter(({ agents, status }) => statusOf(agents.replace('*', '1'), 429) === status)
  const off = builtInOverrides.filter((one) => !inForce.includes(one))
  const named = Object.entries(own).map(([agents, status]) => `${agents} ${status ?? '429 or 409'}`)
  return [
    ok(
      `blocks: ${[
        ...(named.length === 0 ? [] : [`by server.block_status_override ${named.join(', ')}`]),
        ...(inForce.length === 0
          ? []
          : [`built in ${inForce.map(({ agents, status }) => `${agents} ${status}`).join(', ')}`]),
        ...(off.length === 0 ? [] : [`switched off ${off.map(({ agents }) => agents).join(', ')}`]),
        'all others 429 or 409',
      ].join('; ')}`,
    ),
  ]
}

/** Checks that the profiles of setup use the configured address. */
const profiles: Check = async ({ io, config, address }) => {
  if (config === undefined) return []
  const folder = join(io.cwd, 'profiles')
  const files = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const stale: string[] = []
  let found = 0
  for (const file of files) {
    if (!file.isFile() || file.parentPath.endsWith('keys')) continue
    const text = await readFile(join(file.parentPath, file.name), 'utf8')
    if (!text.includes('written by guard setup')) continue
    found++
    if (/https?:\/\/[^\s"']*/.test(text) && !text.includes(address)) stale.push(join(file.parentPath, file.name))
  }
  if (found === 0) return [ok('no profiles; "guard run -- <agent>" needs none')]
  if (stale.length === 0) return [ok(`${found} profiles for ${address}`)]
  return stale.map((file) => warning(`${file} leads to another address than ${address}`, 'Run "guard setup" again.'))
}

const SOON_MS = 14 * 86_400_000

/** Checks that certificate and key can be served, and for how long. */
const tls: Check = async ({ config }) => {
  if (config === undefined || config.server.tls.cert === '') return []
  try {
    const { names, valid_until } = await checkTls(config.server.tls)
    const date = new Date(valid_until).toISOString().slice(0, 10)
    const left = valid_until - Date.now()
    if (left <= 0) return [error(`the certificate for ${names} expired on ${date}`, RENEW)]
    if (left < SOON_MS) return [warning(`the certificate for ${names} expires on ${date}`, RENEW)]
    return [ok(`TLS for ${names}, until ${date}`)]
  } catch (thrown) {
    return [error(reason(thrown), 'Correct server.tls, or the file that it names.')]
  }
}

const RENEW = 'Renew the files that server.tls names: the gateway reads them again by itself.'

/** Names the plugins of the user's, each with its file and the names of its options. What the options are is not shown. */
const plugins: Check = ({ gateway }) =>
  [...(gateway?.registry(ownPluginKind) ?? [])].map(({ id, file, given }) =>
    ok(`plugin ${id} of ${basename(file)}${given.length === 0 ? '' : `, with ${given.join(', ')}`}`),
  )

const PROBE_MS = 1_000

const checks: readonly Check[] = [
  node,
  configuration,
  key,
  address,
  tls,
  storage,
  memory,
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
