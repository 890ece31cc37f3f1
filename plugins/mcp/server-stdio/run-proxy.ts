import { type Gateway, GuardError } from 'guard-gateway/core'
import { childEnv, envFlagNames, missingEnvText, withheldText } from '#lib/child-env'
import type { Input, Io } from '#lib/command'
import { onUncaught, thrownText } from '#lib/errors'
import { storedId } from '#lib/ids'
import { terminalLine } from '#lib/text'
import { type Mcp, mcpOf } from '../mcp.ts'
import type { PolicyChange } from '../policy/index.ts'
import { serverOf } from '../servers/configured-servers.ts'
import type { RunningSession } from '../session/running-session.ts'
import { NAME, type SessionInfo } from '../session/session.ts'
import { StdioServer } from './stdio-server.ts'

const SERVER_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/

/** Runs `guard mcp run`. Resolves to its exit code. */
export const runProxy = async (gateway: Gateway, input: Input, io: Io): Promise<number> => {
  const [command, ...args] = input.rest
  const server_id = named(input, 'serverId', SERVER_ID)
  const bundle_id = named(input, 'bundle', SERVER_ID)
  if (bundle_id === undefined ? command === undefined || server_id === undefined : command !== undefined)
    throw new GuardError('USAGE', NEEDED)
  const labels = labelsOf(input, gateway)
  const mcp = mcpOf(gateway)
  mcp.readPolicy()
  const stopReporting = reportFaults(gateway, io)
  await gateway.open({ beside: true })
  const stop = stopSignal()
  try {
    await checkConsent(mcp)
    const about: SessionInfo = {
      ...{ client_transport: 'stdio', merged: true, owner: '', ...labels },
      notice: (text) => say(io, text),
      stderr: (bytes) => void io.err.write(bytes),
    }
    if (bundle_id !== undefined || command === undefined || server_id === undefined)
      return await serveBundle(mcp, bundle_id ?? '', about, io, stop.stopRequested)
    const inherited = envFlagNames(input.options.env)
    const { env, withheld } = childEnv(io.env, gateway, { given: inherited, own: configuredValues(mcp, server_id) })
    const state = mcp.add(serverOf(server_id, { transport: 'stdio', command, args, cwd: io.cwd }, env))
    await announce(mcp, `starting ${commandText(mcp, input.rest)}  server ${server_id}`, io)
    const withheldLine = withheldText("the server's", withheld, (name) => `"guard mcp run --env ${name} …"`)
    if (withheldLine !== '') say(io, withheldLine)
    const absent = missingEnvText(inherited, io.env)
    if (absent !== '') say(io, absent)
    return await serve(await mcp.openSession(state, about), io, stop.stopRequested)
  } finally {
    stop.release()
    await gateway.close()
    stopReporting()
  }
}

/** Reports errors on stderr; after an uncaught error that is not of a plugin, the process exits with 1. Returns a function that removes the handlers. */
const reportFaults = (gateway: Gateway, io: Io): (() => void) => {
  const report = (what: string, error: unknown) => say(io, `${what}: ${gateway.redact.text(thrownText(error))}`)
  gateway.hooks.fault.tap('mcp-run', (error, where) => report(`${where} has failed, and the proxy goes on`, error))
  return onUncaught(gateway, (error) => {
    report('the proxy has failed and ends', error)
    process.exit(1)
  })
}

/** Values that the configuration gives this very server, under whatever name they come here. */
const configuredValues = ({ options: { server_env = {} } }: Mcp, server_id: string): ReadonlySet<string> =>
  new Set(Object.hasOwn(server_env, server_id) ? Object.values(server_env[server_id] ?? {}) : [])

const say = (io: Io, text: string): void => void io.err.write(`[guard] ${terminalLine(text)}\n`)

const named = ({ options }: Input, name: string, form: RegExp): string | undefined => {
  const value = options[name]
  if (typeof value !== 'string') return undefined
  if (form.test(value)) return value
  throw new GuardError(
    'USAGE',
    `"${terminalLine(value)}" cannot be used as an id: letters, digits, dots, _ and - are fine, "." and ".." are not.`,
  )
}

const labelsOf = (input: Input, { redact }: Gateway) => {
  const stored = (name: string, form: RegExp): string | undefined => {
    const id = named(input, name, form)
    if (id === undefined) return undefined
    const label = storedId(id, redact)
    if (label === undefined)
      throw new GuardError('USAGE', `The value of --${name} is a key. Use an id that may be shown.`)
    return label
  }
  return {
    project_id: stored('project', NAME) ?? 'default',
    agent_id: stored('agent', NAME) ?? null,
    external_session_id: stored('session', /^[^\p{C}]{1,512}$/u) ?? null,
  }
}

/** Nobody could ever approve what only this process knows of. */
const checkConsent = async (mcp: Mcp): Promise<void> => {
  if (mcp.options.durable !== false) return
  const policy = await (await mcp.policies()).current()
  if (!policy.asks) return
  throw new GuardError(
    'INVALID_CONFIG',
    'The policy can ask for approval, and with storage.backend memory nobody else could give it. Use sqlite.',
  )
}

const NEEDED =
  '"guard mcp run" needs --server-id <id>, and the server\'s command behind "--"; or --bundle <id> for servers of the configuration.'

const serveBundle = async (
  mcp: Mcp,
  bundle_id: string,
  about: SessionInfo,
  io: Io,
  stopRequested: Promise<void>,
): Promise<number> => {
  await announce(mcp, `servers ${mcp.configuredIds().join(', ')}  bundle ${bundle_id}`, io)
  const { runBundle } = await import('./run-bundle.ts')
  return runBundle(mcp, bundle_id, about, io, stopRequested)
}

const commandText = ({ gateway }: Mcp, command: readonly string[]): string =>
  gateway.redact.text(command.map((word) => JSON.stringify(word)).join(' '))

const announce = async (mcp: Mcp, what: string, io: Io): Promise<void> => {
  const policies = await mcp.policies()
  policies.onChange((change) => reportChange(change, io))
  const { file, version, mode } = policies.state()
  const policy = file === null ? 'none, so everything asks' : `${file} (${version.slice(0, 12)})`
  say(io, `${what}  policy ${policy}  mode ${mode}`)
}

/** As shells say that a command cannot be run, or is not there. */
const neverStarted: ReadonlySet<number> = new Set([126, 127])

/** Nobody examines the pages of this process, so that it says itself by which policy it goes. */
const reportChange = ({ kind, state: { version, mode, error } }: PolicyChange, io: Io): void => {
  const short = version.slice(0, 12)
  const lines =
    kind === 'policy.changed'
      ? [`policy read anew (${short})  mode ${mode}`]
      : [`the policy file cannot be used as it stands; ${short} stays in force`, ...(error ?? '').split('\n')]
  for (const line of lines) say(io, line)
}

/** Relays until the client, the server or a signal ends it; resolves to the exit code. */
const serve = async (running: RunningSession, io: Io, stopRequested: Promise<void>): Promise<number> => {
  const { link } = running.session
  const stdio = new StdioServer({ in: io.in ?? process.stdin, out: io.out }, running)
  const over = Promise.race([stdio.serve(), stdio.left, stopRequested]).then(() => undefined)
  const gone = await Promise.race([over, link.lost])
  if (gone !== undefined && gone.exit_code !== 0) say(io, gone.reason)
  await running.end('the client ended it')
  const { reason, exit_code = 1 } = await link.lost
  if (gone === undefined && neverStarted.has(exit_code)) say(io, reason)
  await stdio.abandon(reason)
  return exit_code
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Signals take the same way as the end of the client's input; the server, a process group of its own, gets none by itself. */
const stopSignal = () => {
  const { promise: stopRequested, resolve } = Promise.withResolvers<void>()
  const onSignal = () => resolve()
  for (const signal of SIGNALS) process.on(signal, onSignal)
  const release = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  return { stopRequested, release }
}
