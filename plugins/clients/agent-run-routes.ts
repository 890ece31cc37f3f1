import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { LRU } from 'tiny-lru'
import { Type } from '#lib/json'

const described = {
  summary: 'How many requests came of one guard run, since the gateway was started',
  params: Type.Object({ id: Type.String({ maxLength: 64 }) }),
  response: { 200: Type.Object({ requests: Type.Integer({ minimum: 0 }) }) },
}

/** Routes below `/api` that return the request count of a run; zero for an unknown run. */
export const agentRunRoutes =
  (counts: Pick<LRU<number>, 'peek'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get('/agent-runs/:id', { schema: described }, ({ params }) =>
      Promise.resolve({ requests: counts.peek(params.id) ?? 0 }),
    )
  }
