import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:tls'
import { errorBody, type Gateway, GuardError } from 'guard-gateway/core'
import { ownPluginKind } from '#lib/plugin-options'
import { isLoopback } from './admission/hosts.ts'
import { Servers } from './connections/servers.ts'
import type { Framework } from './framework.ts'
import { drain, type HttpServerState, serverStateOf } from './http-server-state.ts'
import type { LogTarget } from './log.ts'
import { logStorage } from './log-storage.ts'
import { declareModelPaths } from './models/declare-paths.ts'
import { servesModel } from './models/fast-path.ts'
import { servesProbe } from './probes.ts'
import type { TlsFiles } from './tls/credentials.ts'
import type { TlsListener } from './tls/listener.ts'

export interface ServeOptions {
  readonly host?: string
  /** 0: the system chooses. */
  readonly port?: number
  /** Where log lines go; standard error if absent. */
  readonly log?: LogTarget
  /**
   * The web framework and the routes of all plugins are loaded at the first request that needs them, unless a plugin of the user's has
   * routes. Absent: before the gateway listens.
   */
  readonly isLazy?: boolean
}

/** A gateway that listens. */
export interface Serving {
  readonly url: string
  readonly host: string
  readonly port: number
  /** Lets open replies end, then stops everything; safe to call again. */
  close(): Promise<void>
}

/** Opens the gateway and listens. Rejects with the system's error if the address cannot be listened on. */
export const serve = async (
  gateway: Gateway,
  { host, port, log = standardError(), isLazy = false }: ServeOptions = {},
): Promise<Serving> => {
  const state = serverStateOf(gateway)
  state.startLog(log)
  const listenHost = host ?? state.server.host
  state.isBeyondLoopback = !isLoopback(listenHost)
  state.isAlone = true
  const { tls: files } = state.server
  const tls = files.cert === '' ? undefined : await tlsListener(state, files)
  const entry = new RequestEntry(state, () => servers.first)
  const servers = new Servers(state, tls, entry.listener)
  await gateway.open()
  logStorage(state)
  try {
    declareModelPaths(state)
    if (!isLazy || hasForeignRoutes(gateway)) await entry.load()
    await servers.listen(listenHost, port ?? state.server.port)
  } catch (error) {
    await entry.close()
    throw error
  }
  tls?.watch(servers.first as typeof servers.first & TlsServer)
  state.port = servers.port
  const name = listenHost.includes(':') ? `[${listenHost}]` : listenHost
  const url = `${state.scheme}://${name}:${state.port}`
  gateway.hooks.listen.call(url)
  let closed: Promise<void> | undefined
  state.stop = () => drain(state, servers)
  return {
    url,
    host: listenHost,
    port: state.port,
    close: () => {
      tls?.stop()
      closed ??= close(state, entry, servers)
      return closed
    },
  }
}

/** Whether a plugin of the user's adds routes: what is wrong with them stops the start. */
const hasForeignRoutes = (gateway: Gateway): boolean => {
  const own = new Set(gateway.registry(ownPluginKind).ids())
  const shipped = new Set(gateway.plugins().filter((name) => !own.has(name)))
  return gateway.hooks.http.taps.some(({ name }) => !shipped.has(name))
}

/** TLS is loaded only where it is served. */
const tlsListener = async (state: HttpServerState, files: TlsFiles): Promise<TlsListener> => {
  const { TlsListener: Listener } = await import('./tls/listener.ts')
  return Listener.open(state.gateway, { files, log: () => state.log })
}

/** Standard error; the process continues after it is closed. */
const standardError = (): LogTarget => {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {})
  return process.stderr
}

const close = async (state: HttpServerState, entry: RequestEntry, servers: Servers): Promise<void> => {
  await state.drained()
  await servers.closed(entry.close())
  state.log?.flush()
}

/** Where requests enter. Model requests and probes are served at once; the web framework, which serves all others, is loaded at the first of them. */
class RequestEntry {
  readonly #state: HttpServerState
  readonly #server: () => Server
  #loading: Promise<Framework> | undefined
  #framework: Framework | undefined

  constructor(state: HttpServerState, server: () => Server) {
    this.#state = state
    this.#server = server
  }

  readonly listener: RequestListener = (request, response) => {
    const state = this.#state
    if (!state.hasRequestHooks && (servesModel(state, request, response) || servesProbe(state, request, response)))
      return
    if (this.#framework === undefined) void this.#serveLater(request, response)
    else this.#framework.listener(request, response)
  }

  /** Loads the framework with the routes of all plugins. Rejects with what one of them throws. */
  load(): Promise<Framework> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  /** Ends the routes, if they were loaded, and closes the gateway. */
  async close(): Promise<void> {
    const framework = await this.#loading?.catch(() => undefined)
    if (framework === undefined) await this.#state.gateway.close()
    else await framework.close()
  }

  async #load(): Promise<Framework> {
    const { loadFramework } = await import('./framework.ts')
    this.#framework = await loadFramework(this.#state, this.#server())
    return this.#framework
  }

  async #serveLater(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { listener } = await this.load()
      listener(request, response)
    } catch (error) {
      this.#state.gateway.fault(error, 'http:routes')
      response.writeHead(500, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: errorBody(new GuardError('INTERNAL')) }))
    }
  }
}
