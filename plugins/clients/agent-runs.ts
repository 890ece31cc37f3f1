import type { Gateway } from 'guard-gateway/core'
import { Type } from 'typebox'

/** Header by which each request names the `guard run` that its agent was started with. */
export const RUN_HEADER = 'x-guard-run-id'
const RUN_ID = /^run_[0-9a-z]{8,40}$/
/** Of more runs than this the oldest are forgotten. */
const MOST = 1_000

/** Counts the requests of each run that this process has seen, guarded or not, and tells it below `/api`. */
export const countRuns = (gateway: Gateway): void => {
  const counts = new Map<string, number>()
  const count = (id: string | undefined): undefined => {
    if (id === undefined || !RUN_ID.test(id)) return
    const before = counts.get(id) ?? 0
    // the one that asked last stands last
    counts.delete(id)
    counts.set(id, before + 1)
    const [oldest] = counts.keys()
    if (counts.size > MOST && oldest !== undefined) counts.delete(oldest)
  }
  // ahead of whatever may refuse it
  gateway.hooks.request.tap({ name: 'clients', stage: -300 }, ({ headers }) => count(headers[RUN_HEADER]))
  gateway.hooks.proxy.tap({ name: 'clients', stage: -300 }, ({ headers }) => count(headers[RUN_HEADER]))
  gateway.hooks.http.tap('clients', (app) => {
    app.get<{ Params: { id: string } }>('/api/agent-runs/:id', { schema: described }, ({ params }, reply) =>
      reply.send({ requests: counts.get(params.id) ?? 0 }),
    )
  })
}

const described = {
  summary: 'How many requests came of one guard run, since the gateway was started',
  params: Type.Object({ id: Type.String({ maxLength: 64 }) }),
  response: { 200: Type.Object({ requests: Type.Integer({ minimum: 0 }) }) },
}
