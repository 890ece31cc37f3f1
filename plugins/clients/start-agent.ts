import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { type ChildEnv, childEnv, envFlagNames, missingEnvText, withheldText } from '#lib/child-env'
import type { Input, Io } from '#lib/command'
import { errorFromResponse } from '#lib/errors'
import { newId } from '#lib/ids'
import { isJsonObject, readJson } from '#lib/json'
import { directReason } from '#lib/network'
import { DEFAULT_PROJECT } from '#lib/session'
import { terminalLine } from '#lib/text'
import { clientErrors } from './error-codes.ts'
import { modelFlag, nameFlag, sessionFlag, textFlag } from './flags.ts'
import { guardedBy } from './guarded-by.ts'
import type { ClientsOptions } from './options.ts'
import { isServed, sendsOwnLogin, servedStyle } from './passthrough-login.ts'
import type { Launch, Profile } from './profile.ts'
import { headerLines, KEY_HEADER, labels, type ProfileSettings } from './profile-settings.ts'
import { profileOf, profiles } from './profiles/index.ts'
import { removeAbandoned, runFolder, writeRunFiles } from './run-files.ts'
import { type AgentRun, runTraffic, warningOf } from './run-traffic.ts'
import { summaryOf } from './summary.ts'

/** Runs `guard run`. Resolves to the exit code of the agent. */
export const startAgent = async (gateway: Gateway, options: ClientsOptions, input: Input, io: Io): Promise<number> => {
  const [command, ...args] = input.rest
  if (!command)
    throw new GuardError('USAGE', '"guard run" needs a command after "--", for example: guard run -- claude')
  const profile = profileFor(command, textFlag(input, 'as'))
  const launchWith = launchOf(profile)
  const baseSetting = { ...(await settingOf(options, profile, input, io)), ...loginsOf(gateway, options, input, io) }
  checkModel(profile, options, baseSetting, input.rest)
  checkSession(profile, baseSetting)
  const { address, stop } = await gatewayFor(options, input)
  const run_id = newId('run_', Date.now())
  const setting = { ...baseSetting, address, run_id, folder: runFolder(run_id) }
  const since = Date.now()
  let removeFiles: (() => Promise<void>) | undefined
  try {
    await removeAbandoned()
    const launch = launchWith(setting)
    removeFiles = await writeRunFiles(setting.folder, launch)
    const { project = DEFAULT_PROJECT, session, agent = profile.id } = setting
    const is_labelled = launch.is_labelled === true
    const mode = options.allow_mode_header ? setting.mode : undefined
    const guarded = await guardedBy({ address, project, mode, is_labelled, calledAs: options.calledAs })
    for (const line of guarded) io.err.write(`guard: ${line}\n`)
    if (session !== undefined) io.err.write(`guard: session ${session}\n`)
    const inherited = envFlagNames(input.options.env)
    const { env, withheld } = agentEnv(io.env, gateway, {
      address,
      authority: options.authority,
      launch,
      gateway_key: options.gateway_key,
      labels: labels(setting, profile.id),
      inherited,
    })
    const withheldNote = withheldText('its', withheld, (name) => `"${options.calledAs} run --env ${name} …"`)
    const unserved = unservedText(launch.styles ?? profile.styles ?? [profile.style], profile, options, setting.model)
    for (const line of [missingEnvText(inherited, io.env), withheldNote, bypassText(launch, io.env), unserved])
      if (line !== '') io.err.write(`guard: ${line}\n`)
    const code = await runChild({ command, args: [...launch.flags, ...args], env, cwd: io.cwd })
    await reportTraffic({ address, id: setting.run_id, agent, project, session, since, is_labelled }, options, io)
    return code
  } finally {
    await removeFiles?.()
    await stop?.()
  }
}

/** Says that no upstream has what the client speaks; empty if one has, or if there are no upstreams yet. */
const unservedText = (
  styles: readonly string[],
  { title }: Profile,
  { upstreams, calledAs }: ClientsOptions,
  model: string | undefined,
): string => {
  const isHeard = styles.length === 0 || styles.some((style) => isServed(upstreams, style, model))
  if (isHeard || upstreams.length === 0) return ''
  const of = model === undefined ? '' : ` for ${terminalLine(model)}`
  return `${title} speaks ${styles.join(' or ')}, and no upstream has that${of}: add it to the styles of one in guard-config.yml, see "${calledAs} doctor"`
}

/** Names the unset variables that would have bypassed the gateway; empty for none. */
const bypassText = ({ bypass_variables: around = [] }: Launch, env: Io['env']): string => {
  const set = around.filter((name) => env[name])
  return set.length === 0 ? '' : `${set.join(', ')} is off in this run: with it, requests would go around the gateway`
}

/** Throws USAGE for an unknown client. */
const profileFor = (command: string, named: string | undefined): Profile => {
  if (named === undefined) return profileOf(basename(command).replace(/\.(?:cmd|exe|ps1)$/i, ''))
  const ids = profiles.map(({ id }) => id)
  if (ids.includes(named)) return profileOf(named)
  throw new GuardError('USAGE', `There is no client "${named}"; --as takes ${ids.join(', ')}.`, { known: ids })
}

/** Throws USAGE if the client would have no model, or one of its own settings. */
const checkModel = (
  { run_needs_model, title }: Profile,
  { calledAs }: ClientsOptions,
  { model, has }: Pick<ProfileSettings, 'model' | 'has'>,
  words: readonly string[],
): void => {
  if (run_needs_model === undefined || model !== undefined) return
  const isNamed = run_needs_model.some((name) => has(name) || words.some((word) => word.split('=', 1)[0] === name))
  if (isNamed) return
  throw new GuardError('USAGE', `${title} has to be told a model: ${calledAs} run --model <id> -- ${words[0]}`)
}

/** Throws USAGE for a session name that the client would read as something else. */
const checkSession = ({ title, session_signs }: Profile, { session = '' }: Pick<ProfileSettings, 'session'>): void => {
  const [sign] = session_signs?.exec(session) ?? []
  if (sign === undefined) return
  throw new GuardError('USAGE', `${title} takes ${sign} in a session name for something else. Name it without.`)
}

/** Throws USAGE for a client that environment and flags cannot configure. */
const launchOf = (profile: Profile): ((setting: ProfileSettings) => Launch) => {
  if (profile.launch !== undefined) return profile.launch
  const reason = profile.impossible ?? 'It keeps its provider in files of its own.'
  const setupHint = profile.impossible === undefined ? ` Use "guard setup ${profile.id} --model <id>".` : ''
  throw new GuardError('USAGE', `${profile.title} cannot be started this way. ${reason}${setupHint}`)
}

/** Which API styles use the user's own login, by the configured upstreams and the environment. */
const loginsOf = ({ secrets }: Gateway, { upstreams }: ClientsOptions, input: Input, { env }: Io) => {
  const model = modelFlag(input)
  return {
    sendsOwnLogin: (style: string) => sendsOwnLogin(upstreams, style, model),
    styleOf: (styles: readonly string[]) => servedStyle(upstreams, styles, model),
    has: (name: string) => Boolean(env[name]) && !secrets.holds(env[name] ?? ''),
  }
}

const settingOf = async (
  options: ClientsOptions,
  profile: Profile,
  input: Input,
  io: Io,
): Promise<Omit<ProfileSettings, 'sendsOwnLogin' | 'styleOf' | 'has' | 'run_id' | 'folder'>> => {
  const session = sessionFlag(input)
  const mode = modeOf(options, input, io)
  return {
    address: options.address,
    project: nameFlag(input, 'project') ?? (await projectName(io.cwd)),
    agent: nameFlag(input, 'agent') ?? profile.id,
    model: modelFlag(input),
    ...(session === undefined ? {} : { session: session === 'new' ? newId('ses_', Date.now()) : session }),
    ...(mode === undefined ? {} : { mode }),
    guard: options.guard,
    config: options.config,
    keyed: false,
    client_key: options.gateway_key,
    home: io.env[profile.home_variable ?? ''] || (io.env.HOME ?? io.env.USERPROFILE ?? ''),
    statusline: false,
  }
}

const modeOf = (options: ClientsOptions, input: Input, io: Io): string | undefined => {
  const mode = textFlag(input, 'mode')
  if (mode === undefined) return undefined
  if (mode !== 'shadow' && mode !== 'enforce')
    throw new GuardError('USAGE', `--mode takes shadow or enforce, not "${mode}".`)
  if (!options.allow_mode_header)
    io.err.write('guard: --mode has no effect, since server.allow_mode_header is off in the configuration\n')
  return mode
}

/** A gateway that answers, and a function that stops it if this command started it. Throws GATEWAY_NOT_RUNNING, and UNAUTHORIZED if the gateway rejects the key. */
const gatewayFor = async (
  options: ClientsOptions,
  input: Input,
): Promise<{ readonly address: string; readonly stop?: () => Promise<void> }> => {
  try {
    return { address: await options.running(', or add --start') }
  } catch (error) {
    const isDown = error instanceof GuardError && error.code === 'GATEWAY_NOT_RUNNING'
    if (!isDown || input.options.start !== true) throw error
    return { address: options.address, stop: await startTemporaryGateway(options) }
  }
}

/** Prints the summary on a terminal, and a warning everywhere if no request came through. */
const reportTraffic = async (run: AgentRun, { calledAs }: ClientsOptions, io: Io): Promise<void> => {
  const { address } = run
  const traffic = await runTraffic(run)
  const warning = warningOf(traffic, address, calledAs)
  if (warning !== '') io.err.write(`${warning}\n`)
  else if ('sessions' in traffic && 'isTTY' in io.err && io.err.isTTY === true)
    io.err.write(`${summaryOf(traffic.sessions, address)}\n`)
}

const MAX_NAME = 128

/** Project name of a folder: the name in the nearest package.json, else the folder's name. */
const projectName = async (folder: string): Promise<string> => {
  for (let at = folder; ; at = dirname(at)) {
    const name = await packageName(join(at, 'package.json'))
    if (name !== undefined) return reduced(name)
    if (dirname(at) === at) return reduced(basename(folder))
  }
}

const packageName = async (file: string): Promise<string | undefined> => {
  try {
    const found = readJson(await readFile(file, 'utf8'))
    return isJsonObject(found) && typeof found.name === 'string' && found.name !== '' ? found.name : undefined
  } catch {
    return undefined
  }
}

const reduced = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '')
    .slice(0, MAX_NAME) || 'default'

const passedOn = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const

/** A child process. It shares the terminal of this process. */
interface ChildCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** Runs a process to its end and returns its exit status; 128 plus the signal number if a signal ended it. Throws COMMAND_NOT_FOUND. */
const runChild = async ({ command, args, env, cwd }: ChildCommand): Promise<number> => {
  const child = spawn(command, args, { cwd, env, stdio: 'inherit' })
  const release = passSignals(child)
  try {
    return await ended(child, command)
  } finally {
    release()
  }
}

const ended = (child: ChildProcess, command: string): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once('error', (cause: NodeJS.ErrnoException) => {
      const missing = cause.code === 'ENOENT'
      const why = missing ? 'There is no such command on the PATH' : `It cannot be started: ${cause.message}`
      reject(new GuardError(clientErrors.COMMAND_NOT_FOUND, `${command}: ${why}.`, { cause }))
    })
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]))
  })

/** Forwards signals to the child. The terminal interrupts both processes by itself. */
const passSignals = (child: ChildProcess): (() => void) => {
  const stay = () => {}
  process.on('SIGINT', stay)
  process.on('SIGQUIT', stay)
  const listeners = passedOn.map((signal) => {
    const pass = () => void child.kill(signal)
    process.on(signal, pass)
    return () => process.off(signal, pass)
  })
  return () => {
    process.off('SIGINT', stay)
    process.off('SIGQUIT', stay)
    for (const release of listeners) release()
  }
}

const START_MS = 15_000
const STEP_MS = 100

/** Starts a gateway, waits until it answers, and returns a function that stops it. Throws GATEWAY_NOT_RUNNING with the gateway's error. */
const startTemporaryGateway = async ({
  guard,
  gateway_flags = [],
  config,
  running,
}: ClientsOptions): Promise<() => Promise<void>> => {
  const [node = process.execPath, ...args] = guard
  const child = spawn(node, [...gateway_flags, ...args, 'gateway', 'run', '--config', config, '--json', '--quiet'], {
    // the IPC channel closes when this process ends in any way, and that stops the gateway
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Ctrl-C goes to the agent only, which may survive it
    detached: true,
  })
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-2000)
  })
  // `close` comes after the last output
  let closed = false
  child.once('close', () => {
    closed = true
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  const until = performance.now() + START_MS
  while (!closed && performance.now() < until) {
    if (await isUp(running)) return stop
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
  }
  await stop()
  const { code, message } = errorFromResponse(stderr.trim().split('\n').at(-1) ?? '')
  throw new GuardError('GATEWAY_NOT_RUNNING', `The gateway did not come up: ${message} (${code})`)
}

const isUp = (running: ClientsOptions['running']): Promise<boolean> =>
  running().then(
    () => true,
    () => false,
  )

interface AgentEnvOptions {
  /** Address of the gateway. The agent reaches it without a proxy. */
  readonly address: string
  /** File of certificates to trust, as in `ClientsOptions`. */
  readonly authority?: string | undefined
  readonly launch: Launch
  readonly gateway_key: string
  /** Headers that the agent adds to its requests. */
  readonly labels: Readonly<Record<string, string>>
  /** Variables from `--env`. They are passed on even if they hold a key. */
  readonly inherited: readonly string[]
}

/** Builds the agent's environment: the user's own without keys, the variables of its profile, and the gateway key where the client reads it. */
const agentEnv = (
  own: Io['env'],
  gateway: Pick<Gateway, 'secrets' | 'approver'>,
  { address, authority = '', launch, gateway_key, labels, inherited }: AgentEnvOptions,
): ChildEnv => {
  const { env, key_variables, header_variables = [], key_headers = [], logins } = launch
  const child = childEnv(own, gateway, { given: inherited, ...(logins === undefined ? {} : { logins }) })
  const linesFor = (name: string): string => {
    const headers = key_headers.includes(name) ? { ...labels, [KEY_HEADER]: gateway_key } : labels
    return [...userHeaderLines(child.env[name] ?? '', headers), headerLines(headers)].join('\n')
  }
  const set = {
    ...directReason(address, child.env),
    // one that the user has set holds more than ours
    ...(authority === '' || child.env[TRUSTED] ? {} : { [TRUSTED]: authority }),
    ...env,
    ...Object.fromEntries(key_variables.map((name) => [name, gateway_key])),
    ...Object.fromEntries(header_variables.map((name) => [name, linesFor(name)])),
  }
  const passed = Object.fromEntries(
    inherited.flatMap((name) => (child.env[name] === undefined ? [] : [[name, child.env[name]]])),
  )
  return {
    env: { ...child.env, ...set, ...passed },
    // a variable that has another value is not withheld
    withheld: child.withheld.filter((name) => !Object.hasOwn(set, name)),
  }
}

/** What Node and Bun trust besides, which most agents run on. */
const TRUSTED = 'NODE_EXTRA_CA_CERTS'

/** Returns the user's own header lines. A nested run drops the headers of the outer run, since a request names one run. */
const userHeaderLines = (text: string, headers: Readonly<Record<string, string>>): readonly string[] =>
  text.split('\n').filter((line) => {
    const name = line.split(':', 1)[0]?.trim().toLowerCase() ?? ''
    return line.trim() !== '' && !Object.hasOwn(headers, name) && !name.startsWith('x-guard-')
  })
