import { type Change, type Gateway, type Plugin, stages } from 'guard-gateway/core'
import type { Cluster } from '#lib/session'
import { differencesOf } from './differences.ts'
import { Instances } from './instances.ts'
import { tables } from './tables.ts'

export interface ClusterOptions {
  /** Version of this gateway, as other processes show it. */
  readonly version?: string
  /** Milliseconds between two looks at the others. */
  readonly every_ms?: number
  /** This process can do what one of all does, as retention; true if absent. */
  readonly may_lead?: boolean
}

const EVERY_MS = 1_000

/** Lets several gateways share one storage: they know of one another's changes, and of processes that have died. */
export const cluster = ({ version = '', every_ms = EVERY_MS, may_lead = true }: ClusterOptions = {}): Plugin => ({
  name: 'cluster',
  requires: ['store'],
  apply(gateway: Gateway) {
    for (const table of tables) gateway.tables.add(table)
    const generation = new Generation(gateway)
    const instances = new Instances(gateway, version)
    let timer: NodeJS.Timeout | undefined
    let looking: Promise<void> = Promise.resolve()
    const cluster: Cluster = {
      get instance() {
        return instances.id
      },
      get leads() {
        return instances.leads
      },
      get changed() {
        return generation.changed
      },
      get unchanged() {
        return generation.unchanged
      },
      refresh: () => generation.refresh(),
      hasDied: (process) => instances.hasDied(process),
      onChanged: (listener) => generation.onChanged(listener),
      onEnded: (listener) => instances.onEnded(listener),
    }
    const look = async (): Promise<void> => {
      try {
        await generation.refresh()
        await instances.beat()
      } catch (error) {
        // while the storage fails its own state says so
        if (gateway.storage.state === 'ok') gateway.fault(error, 'cluster')
      }
      if (timer !== undefined) schedule()
    }
    const schedule = (): void => {
      timer = setTimeout(() => {
        looking = look()
      }, every_ms).unref()
    }
    gateway.hooks.open.tapPromise({ name: 'cluster', stage: stages.open.cluster }, async ({ beside }) => {
      if (!gateway.storage.capabilities.shared) return
      gateway.service('cluster').provide(cluster)
      await generation.open()
      // a command beside the gateways does no work for them
      instances.mayLead = may_lead && !beside
      await instances.register()
      await instances.beat()
      schedule()
    })
    gateway.health.set('cluster', () => {
      if (timer === undefined) return { shared: false }
      const notes = differencesOf(instances.alive)
      const about = { shared: true, instance: instances.id, alive: instances.alive.length, leads: instances.leads }
      return notes.length === 0 ? about : { ...about, notes }
    })
    gateway.hooks.http.tapPromise('cluster', async (app) => {
      const { instanceRoutes } = await import('./routes.ts')
      await app.register(
        instanceRoutes(instances, () => timer !== undefined),
        { prefix: '/api' },
      )
    })
    gateway.hooks.close.tapPromise({ name: 'cluster', stage: stages.close.requests }, async () => {
      if (timer === undefined) return
      clearTimeout(timer)
      timer = undefined
      await looking
      await instances.leave().catch((error: unknown) => gateway.fault(error, 'cluster'))
    })
  },
})

const ID = 'all'

/** Counts changes of policies, agents and keys, so that no process decides on old ones. */
class Generation {
  readonly #gateway: Gateway
  readonly #listeners: (() => void | Promise<void>)[] = []
  #value = 0
  #refreshing: Promise<boolean> | undefined

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  get changed(): Change {
    return { table: 'generations', key: ID, add: { value: 1 } }
  }

  get unchanged(): Change {
    return { table: 'generations', key: ID, patch: {}, expected: { value: this.#value } }
  }

  onChanged(listener: () => void | Promise<void>): void {
    this.#listeners.push(listener)
  }

  async open(): Promise<void> {
    await this.#gateway.storage.put('generations', { id: ID, value: 1 }, 'absent')
    this.#value = await this.#stored()
  }

  /** True if it has moved, and the listeners have dropped what they remember. Concurrent calls share one read. */
  refresh(): Promise<boolean> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #refresh(): Promise<boolean> {
    const value = await this.#stored()
    if (value === this.#value) return false
    for (const listener of this.#listeners) await listener()
    // last: until all have dropped what is old, a decision on it must fail
    this.#value = value
    return true
  }

  async #stored(): Promise<number> {
    return (await this.#gateway.storage.get('generations', ID))?.value ?? 0
  }
}
