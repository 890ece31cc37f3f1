import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Gateway } from 'guard-gateway/core'
import { guardRoutes, strayGuard } from './admission/guard.ts'
import { Routes } from './admission/routes-seen.ts'
import { jsonBodies } from './bodies.ts'
import { errorHandler } from './errors.ts'
import { faceOf } from './face.ts'
import { declareRoutes } from './route-owners.ts'
import { noteWatchers } from './watchers.ts'

export interface AsFastifyPluginOptions {
  /** The gateway has the server to itself, so a path that nobody serves is its to answer. */
  readonly alone?: boolean
}

/** Areas of paths that are the gateway's also beside a host application. */
const areas = ['/v1', '/v1/*', '/api/*', '/mcp/*', '/ui/*']

/**
 * The whole gateway as one Fastify plugin: opens it, serves it, closes it with the application.
 * Its hooks, parsers and handlers stay inside, so that a host application keeps its own.
 */
export const asFastifyPlugin = (gateway: Gateway, { alone = false }: AsFastifyPluginOptions = {}) =>
  fastifyPlugin(
    async (app: FastifyInstance) => {
      const face = faceOf(gateway)
      await gateway.open()
      app.addHook('preClose', () => face.drained())
      app.addHook('onClose', () => gateway.close())
      await app.register(async (scope) => {
        await scope.register(errorHandler(face))
        jsonBodies(scope)
        const routes = new Routes()
        const stray = strayGuard(face, routes)
        if (alone) serveStrays(scope, stray)
        else for (const url of areas) scope.all(url, { onRequest: stray }, unreachable)
        guardRoutes(face, scope, routes)
        noteWatchers(face, scope)
        await declareRoutes(gateway, scope)
      })
    },
    { name: 'guard-gateway', fastify: '5.x' },
  )

/** Never comes to it: the judgement before refuses the request or takes it over. */
const unreachable = async (): Promise<undefined> => undefined

/** Puts paths that nobody serves behind the same judgement. */
const serveStrays = (scope: FastifyInstance, stray: onRequestHookHandler): void => {
  scope.setNotFoundHandler(unreachable)
  scope.addHook('onRequest', (request, reply, done) => {
    if (request.is404) stray.call(scope, request, reply, done)
    else done()
  })
}
