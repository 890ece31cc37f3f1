import { accessSync, constants, existsSync, realpathSync, rmSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { GuardError } from 'guard-gateway/core'
import type { Input, Io } from '#lib/command'
import { isJsonObject } from '#lib/json'
import { terminalText } from '#lib/text'
import { serviceErrors } from './error-codes.ts'
import { configFolder, managerHere, usableManager } from './find-manager.ts'
import { chosenKeys, keysIn, keysWarning, storeKeys } from './keys.ts'
import { receiptIn, sealed } from './receipt.ts'
import type { ServiceManager } from './service-manager.ts'
import type { ServiceConfig, ServiceOptions, ServiceSetting } from './setting.ts'
import { textAt, writeFileFor } from './write-file.ts'

/** `guard service remove`: stops the service, and deletes the file that `install` wrote and nothing else. */
export const remove = async (options: ServiceOptions, input: Input, io: Io): Promise<number> => {
  const { file } = managerHere(options, io)
  const text = textAt(file)
  if (text === undefined) {
    if (input.options.json === true) io.out.write(`${JSON.stringify({ removed: null })}\n`)
    else io.out.write('No service is installed.\n')
    return 0
  }
  if (receiptIn(text)?.intact !== true && input.options.force !== true)
    throw new GuardError(
      serviceErrors.SERVICE_EDITED,
      `${file} was edited, or was not written by "guard service install"; the service was left as it is. Remove it with --force.`,
    )
  const manager = await usableManager(options, io)
  await manager.stop()
  rmSync(file, { force: true })
  await manager.forget()
  const keys = join(configFolder(io), 'guard/keys.env')
  const stays = [receiptIn(text)?.config, existsSync(keys) ? keys : undefined].filter((name) => name !== undefined)
  if (input.options.json === true) io.out.write(`${JSON.stringify({ removed: file, stays })}\n`)
  else {
    io.out.write(`The service is stopped and removed: ${terminalText(file)}\n`)
    if (input.options.quiet !== true && stays.length > 0)
      io.err.write(`These stay: ${terminalText(stays.join(', '))}\n`)
  }
  return 0
}

/** `guard service status`: exit code 0 where the service runs and takes requests. */
export const status = async (options: ServiceOptions, input: Input, io: Io): Promise<number> => {
  const text = textAt(managerHere(options, io).file)
  if (text === undefined) return absent(input, io)
  const manager = await usableManager(options, io)
  const receipt = receiptIn(text)
  const state = await manager.state()
  const address = receipt && (await addressOf(receipt.config, options, io))
  const ready = address !== undefined && (await isReady(address))
  const found = {
    installed: true,
    edited: receipt?.intact !== true,
    ...state,
    address: address ?? null,
    ready,
    health: address === undefined ? null : ((await healthAt(address)) ?? null),
    config: receipt?.config ?? null,
    file: manager.file,
    log: manager.log,
    notices: await manager.notices(),
  }
  if (input.options.json === true) io.out.write(`${JSON.stringify(found)}\n`)
  else io.out.write(`${terminalText(lines(found).join('\n'))}\n`)
  return state.running && ready ? 0 : 1
}

const absent = ({ options }: Input, { out }: Io): number => {
  if (options.json === true) out.write(`${JSON.stringify({ installed: false, running: false })}\n`)
  else out.write('No service is installed; "guard service install" does that.\n')
  return 1
}

/** Undefined where the configuration cannot be read any more. */
const addressOf = async (file: string, options: ServiceOptions, io: Io): Promise<string | undefined> => {
  try {
    const env = { ...io.env, ...keysIn(`${configFolder(io)}/guard/keys.env`) }
    await options.trust?.(file, env)
    return (await options.read(file, env)).address
  } catch {
    return undefined
  }
}

interface Found {
  readonly edited: boolean
  readonly enabled: boolean
  readonly running: boolean
  readonly pid: number | null
  readonly since: string | null
  readonly exit_code: number | null
  readonly address: string | null
  readonly ready: boolean
  readonly health: string | null
  readonly config: string | null
  readonly file: string
  readonly log: string
  readonly notices: readonly string[]
}

const lines = (found: Found): readonly string[] => [
  `service  ${stateText(found)}${found.enabled ? '' : '; it does not start by itself'}`,
  `address  ${addressText(found)}`,
  `config   ${found.config ?? 'unknown'}`,
  `file     ${found.file}${found.edited ? ' (edited)' : ''}`,
  `log      ${found.log}`,
  ...found.notices,
]

const stateText = ({ running, pid, since, exit_code }: Found): string => {
  if (!running) return `does not run${exit_code === null ? '' : `; it ended with code ${exit_code}`}`
  return `runs${since === null ? '' : ` since ${since}`}${pid === null ? '' : `, process ${pid}`}`
}

const addressText = ({ address, ready, health }: Found): string => {
  if (address === null) return 'unknown: the configuration cannot be read'
  return `${address}, ${ready ? `takes requests, health ${health ?? 'unknown'}` : 'takes no requests'}`
}

/** `guard service install`: checks everything that would stop the service, writes its file, starts it and waits until it answers. */
export const install = async (options: ServiceOptions, input: Input, io: Io): Promise<number> => {
  const isPrinted = input.options.print === true
  const manager = isPrinted ? managerHere(options, io) : await usableManager(options, io)
  const { file, chosen, setting, notices } = await prepare(options, input, io)
  const text = sealed(manager.text(setting), file)
  if (isPrinted) {
    io.out.write(text)
    for (const notice of notices) io.err.write(`${terminalText(notice)}\n`)
    return 0
  }
  const before = textAt(manager.file)
  if (before !== undefined && receiptIn(before)?.intact !== true && input.options.force !== true)
    throw new GuardError(
      serviceErrors.SERVICE_EDITED,
      `${manager.file} was edited, or was not written by this command; it was left as it is. Compare it with "--print", and replace it with --force.`,
    )
  const { running } = await manager.state()
  if (!running) await options.checkPort(setting.config.address)
  const hasKeys = Object.keys(chosen).length > 0
  if (hasKeys) storeKeys(setting.keys, chosen)
  if (before !== text) writeFileFor(manager.file, text)
  if (!running || hasKeys || before !== text) await manager.start()
  await awaitStart(manager, setting.config.address, options)
  return tell(manager, setting, [...notices, ...(await manager.notices())], input, io)
}

interface Prepared {
  /** The configuration. */
  readonly file: string
  /** Variables to store. */
  readonly chosen: Readonly<Record<string, string>>
  readonly setting: ServiceSetting
  readonly notices: readonly string[]
}

/** Everything that is known before something is written. Throws what would stop the service. */
const prepare = async (options: ServiceOptions, input: Input, io: Io): Promise<Prepared> => {
  const path = io.env.PATH ?? ''
  const file = options.locate(input.options, io)
  const keys = join(configFolder(io), 'guard/keys.env')
  const chosen = chosenKeys([input.options.env ?? []].flat().map(String), io)
  const stored = { ...keysIn(keys), ...chosen }
  const { named, usual } = await options.variables(file)
  const missing = named.filter((name) => !stored[name])
  if (missing.length > 0) throw keyless(missing, file, keys)
  const program = lastingCommand(options.guard, path)
  const lasting = lastingPath(path, program[0] ?? '')
  const config = await options.read(file, { ...stored, HOME: io.env.HOME, PATH: lasting })
  const { data } = input.options
  const database = typeof data === 'string' ? resolve(io.cwd, data) : undefined
  mayWrite(database === undefined ? config.data : dirname(database))
  await options.trust?.(file, stored)
  const command = [
    ...program,
    ...['gateway', 'run', '--config', file, '--json'],
    ...(database === undefined ? [] : ['--data', /[/\\]$/.test(String(data)) ? `${database}/` : database]),
  ]
  const setting = { command, folder: dirname(file), path: lasting, keys, config }
  const warning = keysWarning(keys)
  const left = usual.filter((name) => io.env[name] && !stored[name])
  return {
    file,
    chosen,
    setting,
    notices: [
      ...config.warnings,
      ...(left.length === 0 ? [] : [leftText(left)]),
      ...(warning === undefined ? [] : [warning]),
    ],
  }
}

const keyless = (missing: readonly string[], file: string, keys: string): GuardError =>
  new GuardError(
    'USAGE',
    `A service has no variables of your shell, and ${file} needs ${missing.join(', ')}. Copy them into ${keys} (mode 600) with ${missing.map((name) => `--env ${name}`).join(' ')}, or write them there.`,
  )

const leftText = (names: readonly string[]): string =>
  `Set here and not for the service: ${names.join(', ')}. If it needs them, install again with ${names.map((name) => `--env ${name}`).join(' ')}.`

/** Throws USAGE where the database could not be written. */
const mayWrite = (folder: string | null): void => {
  if (folder === null) return
  try {
    accessSync(folder, constants.W_OK)
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const why = {
      EACCES: 'you may not write there',
      EROFS: 'that file system is read-only',
      ENOENT: 'it does not exist',
    }
    throw new GuardError(
      'USAGE',
      `The folder ${folder} cannot hold the database: ${why[code as keyof typeof why] ?? code}. Name another with --data, or in storage.file.`,
      { cause },
    )
  }
}

const tell = async (
  manager: ServiceManager,
  { config, keys }: { readonly config: ServiceConfig; readonly keys: string },
  notices: readonly string[],
  { options }: Input,
  { out, err }: Io,
): Promise<number> => {
  const { pid } = await manager.state()
  if (options.json === true) {
    out.write(
      `${JSON.stringify({ address: config.address, pid, file: manager.file, keys, log: manager.log, notices })}\n`,
    )
    return 0
  }
  out.write(`The gateway runs for good at ${config.address}, and starts by itself.\n`)
  if (options.quiet === true) return 0
  for (const [name, value] of [
    ['file', manager.file],
    ['log', manager.log],
    ['restart', manager.restart],
    ['remove', 'guard service remove'],
  ])
    err.write(`  ${String(name).padEnd(8)} ${terminalText(String(value))}\n`)
  for (const notice of notices) err.write(`${terminalText(notice)}\n`)
  return 0
}

/** Folders that package runners and version managers make for one command or one shell, and remove. */
const PASSING = /[/\\](?:_npx|dlx-[^/\\]*|bunx-[^/\\]*|xfs-[^/\\]*|fnm_multishells)[/\\]/

/** The command line of the service: absolute paths that stay. Throws USAGE where a part of it is in a cache that is emptied. */
export const lastingCommand = (guard: readonly string[], path: string): readonly string[] => {
  const [node = process.execPath, ...more] = guard
  const script = more.at(-1) ?? ''
  const command = [lastingNode(node, path), ...more.slice(0, -1), resolve(script)]
  const passing = command.find((word) => PASSING.test(word))
  if (passing === undefined) return command
  throw new GuardError(
    'USAGE',
    `${passing} is in a folder that is emptied now and then, and the service would be gone with it. Install the package first, "npm install --global guard-gateway" or in a folder that stays, and run "guard service install" from there.`,
  )
}

/** Homebrew removes the folder of a version when it brings the next one; a link to it on the path stays. */
const lastingNode = (node: string, path: string): string => {
  if (!node.includes('/Cellar/')) return node
  const links = path.split(delimiter).map((folder) => join(folder, 'node'))
  return links.find((link) => !PASSING.test(link) && realOf(link) === realOf(node)) ?? node
}

const realOf = (file: string): string | undefined => {
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
}

/** The folders of a path that stay, with that of node first: MCP servers are started by `npx` and the like. */
export const lastingPath = (path: string, node: string): string => {
  const folders = path
    .split(delimiter)
    .filter(
      (folder) => isAbsolute(folder) && !PASSING.test(`${folder}/`) && !/node_modules[/\\]\.bin[/\\]?$/.test(folder),
    )
  return [...new Set([dirname(node), ...folders, '/usr/local/bin', '/usr/bin', '/bin'])].join(delimiter)
}

/** A start that moves a large journal takes some seconds. */
const START_MS = 30_000
const POLL_MS = 100

/** Resolves when the service answers. Throws SERVICE_FAILED with what it said, where it ends before, or takes too long. */
const awaitStart = async (
  manager: ServiceManager,
  address: string,
  { start_ms = START_MS }: Pick<ServiceOptions, 'start_ms'>,
): Promise<void> => {
  const end = performance.now() + start_ms
  while (performance.now() < end) {
    const { running, ended, exit_code } = await manager.state()
    if (running && (await isReady(address))) return
    if (ended || (!running && exit_code !== null)) break
    await setTimeout(POLL_MS)
  }
  const { running, exit_code } = await manager.state()
  const what = running ? `does not answer at ${address}` : `ended${exit_code === null ? '' : ` with code ${exit_code}`}`
  const reason = reasonIn(await manager.lastLines())
  throw new GuardError(
    serviceErrors.SERVICE_FAILED,
    `The service was installed and ${what}${reason === undefined ? '' : `: ${reason}`}. Its log: ${manager.log}`,
  )
}

/** The last error in lines of a log. */
const reasonIn = (lines: string): string | undefined => {
  for (const line of lines.split('\n').reverse()) {
    try {
      const { error, message } = JSON.parse(line) as { error?: { message?: unknown }; message?: unknown }
      const text = error?.message ?? message
      if (typeof text === 'string') return terminalText(text).replace(/\.$/, '')
    } catch {
      // a line of something else
    }
  }
  return undefined
}

const PROBE_MS = 10_000

const answer = (url: string): Promise<Response | undefined> =>
  fetch(url, { signal: AbortSignal.timeout(PROBE_MS) }).catch(() => undefined)

/** Whether the gateway takes requests. */
export const isReady = async (address: string): Promise<boolean> => {
  const response = await answer(`${address}/readyz`)
  await response?.body?.cancel()
  return response?.status === 200
}

/** What the gateway says of itself: `ok`, `degraded`; undefined where nobody answers. */
export const healthAt = async (address: string): Promise<string | undefined> => {
  const body: unknown = await (await answer(`${address}/api/health`))?.json().catch(() => undefined)
  return isJsonObject(body) && typeof body.status === 'string' ? body.status : undefined
}
