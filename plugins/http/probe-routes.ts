import type { FastifyInstance } from 'fastify'
import { Type } from 'guard-gateway/lib/json'
import type { HttpServerState } from './http-server-state.ts'
import { readiness } from './probes.ts'
import { routeSchema } from './route-schema.ts'

const Probed = Type.Object({ status: Type.String({ enum: ['ok', 'unavailable'] }) })

const liveSchema = routeSchema('Whether the process is up, for orchestrators', { response: { 200: Probed } })
const readySchema = routeSchema('Whether requests can be served, for load balancers', {
  response: { 200: Probed, 503: Probed },
})

/** Adds the probes of orchestrators and load balancers to the framework, which describes them and matches unusual spellings. */
export const probeRoutes = (state: HttpServerState, app: FastifyInstance): void => {
  app.get('/livez', { schema: liveSchema }, async () => ({ status: 'ok' }))
  app.get('/readyz', { schema: readySchema }, async (_request, reply) => {
    const { status, body } = readiness(state)
    return reply.code(status).send(body)
  })
}
