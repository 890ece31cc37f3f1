import { type Gateway, GuardError, type Plugin, stages } from 'guard-gateway/core'
import { type Command, commandKind, type Input, type Io } from '#lib/command'
import { MemoryBudget } from '#lib/memory-budget'
import { principalSourceKind } from '#lib/principal'
import { type BodyOwnership, BufferOwnership, RequestReader } from '#lib/request-reader'
import { isLoopback, isWildcardAddress } from './admission/hosts.ts'
import { checkPort, listenError } from './connections/port.ts'
import { runUntilStopped } from './connections/stop-signals.ts'
import type { EmbeddedGateway, EmbeddingOptions } from './embedding/as-request-handler.ts'
import { httpErrors } from './error-codes.ts'
import { provideServerState } from './http-server-state.ts'
import { logEvents } from './log-events.ts'
import type { HttpOptions, ServerOptions } from './options.ts'
import type { ServeOptions, Serving } from './serve.ts'
import type { TlsCredentials, TlsFiles } from './tls/credentials.ts'

export { peerError } from './admission/auth-proxy.ts'
export { isLoopback } from './admission/hosts.ts'
export { builtInOverrides, type StatusOverride, statusOverride } from './block-status.ts'

export { checkPort } from './connections/port.ts'
export { type AsFastifyPluginOptions, asFastifyPlugin } from './embedding/as-fastify-plugin.ts'
export type { EmbeddedGateway, EmbeddingOptions, Next } from './embedding/as-request-handler.ts'
export type { Health } from './health.ts'
export type { LogTarget } from './log.ts'
export type { HttpOptions, ServerOptions } from './options.ts'
export type { ServeOptions, Serving } from './serve.ts'

/** The HTTP server: admission, model routes, health, errors, access log and graceful shutdown. */
export const http = (options: HttpOptions): Plugin => ({
  name: 'http',
  apply(gateway: Gateway) {
    gateway.errorCodes.add(...Object.values(httpErrors))
    const state = provideServerState(gateway, options)
    if (state.authProxy !== undefined) gateway.registry(principalSourceKind).add(state.authProxy)
    gateway.keys.setGateway(options.gateway_key)
    gateway.secrets.add(options.gateway_key)
    gateway.hooks.http.tapPromise('http', async (app) => {
      const { addRoutes } = await import('./routes.ts')
      await addRoutes(state, app)
    })
    logEvents(state)
    const budget = gateway.service('memory_budget').getOrProvide(() => new MemoryBudget())
    const requests = { reader: new RequestReader(budget), bodies: new BufferOwnership() }
    gateway.service('requests').provide(requests)
    freeBodies(gateway, requests.bodies)
    gateway.hooks.close.tapPromise({ name: 'http', stage: stages.close.http }, () => state.drained())
    gateway.hooks.close.tap({ name: 'http', stage: stages.close.requests }, () => requests.reader.clear())
  },
})

/** Reads the files of a certificate as a listener does. Throws INVALID_CONFIG, which names the file that cannot be used. */
export const checkTls = async (files: TlsFiles): Promise<Pick<TlsCredentials, 'names' | 'valid_until'>> =>
  (await import('./tls/credentials.ts')).readCredentials(files)

/** Opens the gateway and listens; the framework is loaded only now. */
export const serve = async (gateway: Gateway, options?: ServeOptions): Promise<Serving> =>
  (await import('./serve.ts')).serve(gateway, options)

/** Opens the gateway for a server that somebody else runs, as that of Express. Rejects with what a plugin throws. */
export const asRequestHandler = async (gateway: Gateway, options?: EmbeddingOptions): Promise<EmbeddedGateway> =>
  (await import('./embedding/as-request-handler.ts')).asRequestHandler(gateway, options)

/** What `guard gateway run` serves and says. */
export interface RunOptions {
  readonly version: string
  readonly server: {
    readonly host: string
    readonly port: number
    readonly allow_remote: boolean
    readonly tls: { readonly cert: string }
    readonly allowed_hosts: readonly string[]
  }
  /** The details of the line that is printed at start, for example mode and storage. */
  readonly facts: (gateway: Gateway) => Promise<Readonly<Record<string, string>>>
  /** Further commands that do the same with a gateway that was made for them. */
  readonly also?: readonly ServeCommand[]
  /** Further lines for somebody who has just started. */
  readonly next?: (url: string) => readonly string[]
  /** Opens an address in the browser, for `--open`. */
  readonly show: (url: string, io: Io) => void
}

/** Another command that serves a gateway, for example a part of one. */
type ServeCommand = Pick<Command, 'id' | 'summary' | 'options' | 'example'>

/** Gives the command line `gateway run`. */
export const gatewayRun = (options: RunOptions): Plugin => ({
  name: 'gateway-run',
  requires: ['http'],
  apply(gateway) {
    gateway.registry(commandKind).add(runCommand(gateway, options))
    for (const command of options.also ?? [])
      gateway.registry(commandKind).add({ ...command, run: (input, io) => run(gateway, options, input, io) })
  },
})

const runCommand = (gateway: Gateway, options: RunOptions): Command => ({
  id: 'gateway run',
  summary: 'start the gateway (writes guard-config.yml the first time)',
  options: {
    '--host <address>': 'listen here instead of server.host',
    '--port <number>': 'listen here instead of server.port; 0 lets the system choose',
    '--data <path>': 'keep the database in this folder, or in this file',
    '--allow-remote': 'let other machines reach the gateway, which then asks for keys with scopes',
    '--open': 'open the pages in the browser',
    '--init': 'write the configuration file named by --config first',
  },
  example: ['guard gateway run --open', 'guard gateway run --port 9000 --data /tmp/guard'],
  run: (input, io) => run(gateway, options, input, io),
})

const run = async (gateway: Gateway, options: RunOptions, input: Input, io: Io): Promise<number> => {
  const { host, port } = options.server
  checkHost(options.server, input.options)
  await checkPort(host, port)
  const undo = input.options.json === true ? jsonWarnings(gateway, io) : () => {}
  const server = await start(gateway, options, io)
  const ended = runUntilStopped(server, gateway, io).finally(undo)
  announce(server.url, { ...options, facts: await options.facts(gateway) }, input, io)
  const missing = firstKey(gateway, host)
  if (missing !== undefined) io.err.write(lineOf(missing, input))
  if (input.options.open === true) options.show(server.url, io)
  return ended
}

/** Throws HOST_NOT_LOOPBACK for an address that other machines can reach, unless that is asked for. */
export const checkHost = (
  {
    host,
    allow_remote,
    tls,
  }: Pick<ServerOptions, 'host' | 'allow_remote'> & { readonly tls: { readonly cert: string } },
  { allowRemote }: Input['options'],
): void => {
  if (isLoopback(host) || allow_remote || allowRemote === true || tls.cert !== '') return
  throw new GuardError(
    httpErrors.HOST_NOT_LOOPBACK,
    `server.host is ${host}, which other machines can reach. Use 127.0.0.1, serve TLS by server.tls, or allow plain HTTP by server.allow_remote: true or --allow-remote.`,
  )
}

const start = async (gateway: Gateway, { server: { host, port } }: RunOptions, io: Io) => {
  const { serve } = await import('./serve.ts')
  try {
    return await serve(gateway, { host, port, log: io.err, isLazy: true })
  } catch (cause) {
    const { syscall = '' } = cause as NodeJS.ErrnoException
    // somebody may have taken the port since it was checked
    throw ['listen', 'getaddrinfo'].includes(syscall) ? await listenError(cause, host, port) : cause
  }
}

const announce = (
  url: string,
  { version, server, facts, next }: Omit<RunOptions, 'facts'> & { readonly facts: Readonly<Record<string, string>> },
  { options }: Input,
  io: Io,
): void => {
  const names = unnamed(server)
  if (options.json === true) {
    io.out.write(`${JSON.stringify({ version, url, ...facts })}\n`)
    if (names !== undefined) io.err.write(lineOf(names, { options }))
    return
  }
  const details = Object.entries(facts).map(([name, value]) => (name === 'mode' ? value : `${name} ${value}`))
  io.err.write(`${[`Guard Gateway ${version}`, url, ...details].join('  ')}\n`)
  if (names !== undefined) io.err.write(`${names}\n`)
  if (next !== undefined && options.quiet !== true) io.err.write(`${next(url).join('\n')}\n`)
}

const lineOf = (warning: string, { options }: Pick<Input, 'options'>): string =>
  `${options.json === true ? JSON.stringify({ warning }) : warning}\n`

/** Without a key that may administer nobody can beyond loopback, unless a proxy vouches for people. */
const firstKey = (gateway: Gateway, host: string): string | undefined => {
  const knowsPeople = gateway.registry(principalSourceKind).ids().length > 0
  if (isLoopback(host) || knowsPeople || gateway.service('principals').get()?.hasAdmin !== false) return undefined
  return `Nobody can administer it yet: other machines reach it, and there is no key for that. Make one here with "${gateway.calledAs.here} key create --name you --scope admin".`
}

/** A server that listens on every address and lists no name answers requests to loopback names alone. */
const unnamed = ({ host, allowed_hosts }: RunOptions['server']): string | undefined =>
  isWildcardAddress(host) && allowed_hosts.length === 0
    ? 'Only requests to 127.0.0.1, localhost and [::1] are answered; list the names and addresses that others use in server.allowed_hosts.'
    : undefined

/** As much of a process as its warnings need. */
type WarningSource = Pick<NodeJS.Process, 'listeners' | 'on' | 'off' | 'removeAllListeners'>

/** Writes warnings of Node, such as those about deprecated functions, as lines of JSON in place of Node's own text. Returns a function that undoes it. */
const jsonWarnings = (
  { redact }: Pick<Gateway, 'redact'>,
  { err }: Pick<Io, 'err'>,
  process: WarningSource = globalThis.process,
): (() => void) => {
  const own = process.listeners('warning')
  const write = ({ name, message }: Error): void =>
    void err.write(`${JSON.stringify({ warning: redact.text(`${name}: ${message}`) })}\n`)
  process.removeAllListeners('warning')
  process.on('warning', write)
  return () => {
    process.off('warning', write)
    for (const listener of own) process.on('warning', listener)
  }
}

/** Frees request bodies early: after all recorders of a call, since they may read its body. */
const freeBodies = ({ hooks }: Gateway, bodies: BodyOwnership): void =>
  hooks.settle.tap({ name: 'http', stage: stages.settle.free }, ({ call }) => bodies.settled(call.body))
