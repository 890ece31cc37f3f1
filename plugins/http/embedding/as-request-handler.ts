import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Gateway } from 'guard-gateway/core'
import { servesUpgrade, serveUpgrade } from '../connections/upgrade.ts'
import { loadFramework } from '../framework.ts'
import { type HttpServerState, serverStateOf } from '../http-server-state.ts'
import type { LogTarget } from '../log.ts'
import { logStorage } from '../log-storage.ts'
import { servesModel } from '../models/fast-path.ts'
import { noteListener } from './note-listener.ts'
import { restorer } from './restore-request.ts'
import { leaveUpgrade } from './unserved-upgrade.ts'

/** Passes a request on to the host application, as in Express. */
export type Next = (error?: unknown) => void

/** A gateway in a server of somebody else's. */
export interface EmbeddedGateway {
  /**
   * Serves a request to one of the gateway's paths, and calls `next` for every other one; without it these are answered with 404.
   * It reads bodies itself, so it goes before whatever parses them. Also middleware of Express, Connect and the like, at the root.
   */
  readonly handle: (request: IncomingMessage, response: ServerResponse, next?: Next) => void
  /**
   * Serves WebSocket handshakes at the gateway's paths: `server.on('upgrade', guard.upgrade)`. All others are left to further listeners;
   * where there is none, a WebSocket is refused, and a request that offers another protocol (`h2c`) is served as if it did not.
   */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Lets open replies end, then closes the gateway; safe to call again. The server is the host's to close. */
  readonly close: () => Promise<void>
}

export interface EmbeddingOptions {
  /** Where log lines go; nowhere if absent. */
  readonly log?: LogTarget
}

/** Opens a gateway for a server that somebody else runs. Rejects with what a plugin throws. */
export const asRequestHandler = async (gateway: Gateway, { log }: EmbeddingOptions = {}): Promise<EmbeddedGateway> => {
  const state = serverStateOf(gateway)
  if (log !== undefined) state.startLog(log)
  await gateway.open()
  logStorage(state)
  const hosts = new WeakMap<IncomingMessage, () => void>()
  const { createServer } = process.getBuiltinModule('node:http')
  const framework = await loadFramework(state, createServer(), (request) => hosts.get(request)?.())
  let closed: Promise<void> | undefined
  return {
    handle(request, response, next = () => notFound(response)) {
      const restore = restorer(state, request)
      noteListener(state, request.socket)
      state.authProxy?.take(request)
      hosts.set(request, () => {
        restore()
        next()
      })
      if (!isServedAtOnce(state, request, response)) framework.listener(request, response)
    },
    upgrade(request, socket, head) {
      noteListener(state, request.socket)
      if (servesUpgrade(state, request)) serveUpgrade(state, request, socket, head)
      else leaveUpgrade(request, socket, head)
    },
    close() {
      closed ??= state.drained().then(() => framework.close())
      return closed
    },
  }
}

/** As in a server of the gateway's own. A body that somebody has read is left to the framework, which refuses it. */
const isServedAtOnce = (state: HttpServerState, request: IncomingMessage, response: ServerResponse): boolean =>
  !state.hasRequestHooks && !request.readableDidRead && servesModel(state, request, response)

const notFound = (response: ServerResponse): void => {
  response.writeHead(404, { 'content-type': 'text/plain' }).end('There is nothing at this path.\n')
}
