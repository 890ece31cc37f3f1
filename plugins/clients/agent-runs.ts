import { type Gateway, stages } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'

/** Header by which each request names the `guard run` that its agent was started with. */
export const RUN_HEADER = 'x-guard-run-id'
const RUN_ID = /^run_[0-9a-z]{8,40}$/
/** Of more runs than this those are forgotten that asked least recently. */
const MOST = 1_000

/** Counts the requests of each run that this process has seen, guarded or not, and tells it below `/api`. */
export const countRuns = (gateway: Gateway): void => {
  const counts = new LRU<number>(MOST)
  const count = (id: string | undefined): undefined => {
    if (id === undefined || !RUN_ID.test(id)) return
    counts.set(id, (counts.peek(id) ?? 0) + 1)
  }
  // ahead of whatever may refuse it
  gateway.hooks.request.tap({ name: 'clients', stage: stages.request.count }, ({ headers }) =>
    count(headers[RUN_HEADER]),
  )
  gateway.hooks.proxy.tap({ name: 'clients', stage: stages.proxy.count }, ({ headers }) => count(headers[RUN_HEADER]))
  gateway.hooks.http.tapPromise('clients', async (app) => {
    const { agentRunRoutes } = await import('./agent-run-routes.ts')
    await app.register(agentRunRoutes(counts), { prefix: '/api' })
  })
}
