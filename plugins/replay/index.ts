import type { Gateway, Plugin } from 'guard-gateway/core'
import { Keeper } from './keeper.ts'
import type { ReplayOptions } from './options.ts'
import { routes } from './routes.ts'
import { tables } from './tables.ts'

export type { ReplayOptions } from './options.ts'

/** The trace store: keeps what writers say of runs, and lists, reads, exports and compares them. */
export const replay = (options: ReplayOptions = {}): Plugin => ({
  name: 'replay',
  requires: ['sessions', 'recorder', 'export-format/json'],
  apply(gateway: Gateway) {
    const keeper = new Keeper(gateway, () => {})

    for (const table of tables) gateway.tables.add(table)
    gateway.health.set('replay', () => ({ open_runs: keeper.runs.size }))
    gateway.hooks.keep.tapPromise({ name: 'replay', stage: -100 }, (fragments) => keeper.keep(fragments))
    gateway.hooks.http.tapPromise(
      'replay',
      async (app) => void (await app.register(routes(gateway, keeper, options), { prefix: '/api/v1' })),
    )
  },
})
