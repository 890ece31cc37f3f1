import { type Driver, type Plugin, storage } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'

/** A storage backend whose rows outlive the gateways that open it, with a look at what passes through. */
export interface Disk {
  readonly plugin: Plugin
  /** Whether each write so far was to survive a power cut. */
  readonly syncs: boolean[]
  /** How often each table was read by key. */
  readonly gets: Map<string, number>
  /** Set: the next write fails with it. */
  failure: Error | undefined
  /** Set: the conditions of every write fail. */
  refuse: boolean
  /** Set: reads by key wait for it. */
  gate: Promise<void> | undefined
}

export const disk = (): Disk => {
  let inner: Driver | undefined
  const self: Disk = {
    syncs: [],
    gets: new Map(),
    failure: undefined,
    refuse: false,
    gate: undefined,
    plugin: storage({
      id: 'disk',
      open: async (tables) => {
        inner ??= await memory().open(tables)
        const driver = inner
        return {
          ...driver,
          get: async (of, key) => {
            self.gets.set(of.id, (self.gets.get(of.id) ?? 0) + 1)
            await self.gate
            return driver.get(of, key)
          },
          write: async (batch, options) => {
            const { failure } = self
            self.failure = undefined
            if (failure !== undefined) throw failure
            if (self.refuse) return false
            self.syncs.push(options.sync)
            return driver.write(batch, options)
          },
          close: async () => {},
        }
      },
    }),
  }
  return self
}
