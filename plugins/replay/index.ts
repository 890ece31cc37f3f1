import type { Gateway, Plugin } from 'guard-gateway/core'
import { Automatic } from './automatic.ts'
import { hashKey, repliedTools } from './installation.ts'
import { Keeper } from './keeper.ts'
import type { ReplayOptions } from './options.ts'
import { Pricing } from './pricing.ts'
import { routes } from './routes.ts'
import { tables } from './tables.ts'

export type { ReplayOptions } from './options.ts'

const MINUTE_MS = 60_000

/** The trace store: keeps what writers say of runs, and lists, reads, exports and compares them. */
export const replay = (options: ReplayOptions = {}): Plugin => ({
  name: 'replay',
  requires: ['sessions', 'recorder', 'export-format/json'],
  apply(gateway: Gateway) {
    const keeper = new Keeper(gateway, () => {})
    const automatic = new Automatic(gateway, keeper, (options.idle_timeout_minutes ?? 30) * MINUTE_MS)
    const pricing = new Pricing(gateway, options.pricing)
    let key = ''

    for (const table of tables) gateway.tables.add(table)
    gateway.health.set('replay', () => ({ open_runs: keeper.runs.size }))
    gateway.hooks.open.tapPromise('replay', async () => {
      key = await hashKey(gateway)
      await pricing.check()
    })
    // behind the policy, which counts the request and may pause it
    gateway.hooks.decision.tapPromise({ name: 'replay', stage: 50 }, async (decision, call) => {
      await automatic.join(call)
      return decision
    })
    gateway.hooks.settle.tap({ name: 'replay', stage: -10 }, (settled) => {
      pricing.settle(settled)
      if (settled.call.trace !== undefined) settled.tool_calls = repliedTools(settled, key, gateway)
    })
    gateway.hooks.trace.tap('replay', (fragment) => pricing.price(fragment))
    gateway.hooks.record.tapPromise('replay', (recording) => automatic.record(recording))
    gateway.health.set('pricing', () => pricing.health())
    gateway.hooks.keep.tapPromise({ name: 'replay', stage: -100 }, (fragments) => keeper.keep(fragments))
    gateway.hooks.http.tapPromise(
      'replay',
      async (app) => void (await app.register(routes(gateway, keeper, options), { prefix: '/api/v1' })),
    )
  },
})
