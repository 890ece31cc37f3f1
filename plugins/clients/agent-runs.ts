import { type Gateway, stages } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'

/** Request header that names the `guard run` of an agent. */
export const RUN_HEADER = 'x-guard-run-id'
const RUN_ID = /^run_[0-9a-z]{8,40}$/
/** Above this number of runs the least recently used run is evicted. */
const MAX_RUNS = 1_000

/** Counts the requests of each run, guarded or not, and serves the counts below `/api`. */
export const countRuns = (gateway: Gateway): void => {
  const counts = new LRU<number>(MAX_RUNS)
  const count = (id: string | undefined): undefined => {
    if (id === undefined || !RUN_ID.test(id)) return
    counts.set(id, (counts.peek(id) ?? 0) + 1)
  }
  // runs before any stage that may refuse the request
  gateway.hooks.request.tap({ name: 'clients', stage: stages.request.count }, ({ headers }) =>
    count(headers[RUN_HEADER]),
  )
  gateway.hooks.proxy.tap({ name: 'clients', stage: stages.proxy.count }, ({ headers }) => count(headers[RUN_HEADER]))
  gateway.hooks.http.tapPromise('clients', async (app) => {
    const { agentRunRoutes } = await import('./agent-run-routes.ts')
    await app.register(agentRunRoutes(counts), { prefix: '/api' })
  })
}
