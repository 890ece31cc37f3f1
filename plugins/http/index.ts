import { type Gateway, type Plugin, stages } from 'guard-gateway/core'
import { MemoryBudget } from 'guard-gateway/lib/memory-budget'
import { principalSourceKind } from 'guard-gateway/lib/principal'
import { BufferOwnership, RequestReader } from 'guard-gateway/lib/request-reader'
import type { EmbeddedGateway, EmbeddingOptions } from './embedding/as-request-handler.ts'
import { httpErrors } from './error-codes.ts'
import { provideServerState } from './http-server-state.ts'
import { logEvents } from './log-events.ts'
import { freeBodies } from './models/free-bodies.ts'
import type { HttpOptions } from './options.ts'
import type { ServeOptions, Serving } from './serve.ts'
import type { TlsCredentials, TlsFiles } from './tls/credentials.ts'

export { peerError } from './admission/auth-proxy.ts'
export { isLoopback } from './admission/loopback.ts'
export { builtInOverrides, type StatusOverride, statusOverride } from './block-status.ts'
export { checkHost, gatewayRun, type RunOptions } from './commands.ts'
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
