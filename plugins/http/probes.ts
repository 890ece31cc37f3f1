import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { HttpServerState } from './http-server-state.ts'
import { routeSchema } from './route-schema.ts'

const Probed = Type.Object({ status: Type.String({ enum: ['ok', 'unavailable'] }) })

const liveSchema = routeSchema('Whether the process is up, for orchestrators', { response: { 200: Probed } })
const readySchema = routeSchema('Whether requests can be served, for load balancers', {
  response: { 200: Probed, 503: Probed },
})

/** Serves the probes of orchestrators and load balancers: without a key, by any host name, from memory alone, and with no detail. */
export const probeRoutes = (state: HttpServerState, app: FastifyInstance): void => {
  app.get('/livez', { schema: liveSchema }, async () => ({ status: 'ok' }))
  app.get('/readyz', { schema: readySchema }, async (_request, reply) => {
    if (isReady(state)) return { status: 'ok' }
    return reply.code(503).send({ status: 'unavailable' })
  })
}

/** It takes requests, and what it decides can be recorded, or need not be. */
const isReady = ({ draining, gateway }: HttpServerState): boolean => {
  if (draining) return false
  const store = gateway.service('store').get()
  const state = store?.storage?.state
  return state === 'ok' || state === 'busy' || (state !== undefined && store?.onFailure === 'forward')
}
