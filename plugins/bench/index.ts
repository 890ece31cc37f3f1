import type { Plugin } from 'guard-gateway/core'
import { type AskJson, commandKind } from 'guard-gateway/lib/command'
import { benchCommand } from './command-bench.ts'
import { exportCommand } from './command-export.ts'

/** Where commands find stored sessions. */
export interface BenchOptions {
  /** Lets `work` ask the gateway that runs, or one that is opened for it. */
  readonly asking: <T>(work: (ask: AskJson) => Promise<T>) => Promise<T>
}

/** Gives the command line `bench` and `bench export`, and the interface the trajectories that the latter writes. */
export const bench = ({ asking }: BenchOptions): Plugin => ({
  name: 'bench',
  requires: ['recorder'],
  apply(gateway) {
    gateway.registry(commandKind).add(benchCommand)
    gateway.registry(commandKind).add(exportCommand(asking))
    gateway.hooks.http.tapPromise('bench', async (app) => {
      const { trajectoryRoutes } = await import('./routes.ts')
      await app.register(trajectoryRoutes(gateway), { prefix: '/api' })
    })
  },
})
