import type { Server as TlsServer } from 'node:tls'
import type { Gateway } from 'guard-gateway/core'
import { ownPluginKind } from '#lib/plugin-options'
import { isLoopback } from './admission/loopback.ts'
import { Servers } from './connections/servers.ts'
import { drain, type HttpServerState, serverStateOf } from './http-server-state.ts'
import type { LogTarget } from './log.ts'
import { logStorage } from './log-storage.ts'
import { declareModelPaths } from './models/declare-paths.ts'
import { RequestEntry } from './request-entry.ts'
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
