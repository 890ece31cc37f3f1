import type { FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Gateway } from 'guard-gateway/core'
import { serverStateOf } from '../http-server-state.ts'
import type { LogTarget } from '../log.ts'
import { logStorage } from '../log-storage.ts'
import { noteListener } from './note-listener.ts'

export interface AsFastifyPluginOptions {
  /** The gateway is the only application of the server, so it answers unknown paths too. */
  readonly alone?: boolean
  /** Where log lines go; nowhere if absent. */
  readonly log?: LogTarget
}

/**
 * The whole gateway as one Fastify plugin: opens it, serves it, closes it with the application.
 * Its hooks, parsers and handlers stay inside, so that a host application keeps its own.
 */
export const asFastifyPlugin = (gateway: Gateway, { alone = false, log }: AsFastifyPluginOptions = {}) =>
  fastifyPlugin(
    async (app: FastifyInstance) => {
      const state = serverStateOf(gateway)
      state.isAlone = alone
      if (log !== undefined) state.startLog(log)
      await gateway.open()
      logStorage(state)
      app.addHook('preClose', () => state.drained())
      app.addHook('onClose', () => gateway.close())
      const { addGatewayRoutes } = await import('../gateway-routes.ts')
      await app.register((scope) => {
        scope.addHook('onRequest', (request, _reply, done) => {
          noteListener(state, request.raw.socket)
          state.authProxy?.take(request.raw)
          done()
        })
        return addGatewayRoutes(state, scope, alone)
      })
    },
    { name: 'guard-gateway', fastify: '5.x' },
  )
