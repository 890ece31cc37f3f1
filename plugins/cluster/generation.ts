import type { Change, Gateway } from 'guard-gateway/core'

const ID = 'all'

/** Counts changes of policies, agents and keys, so that no process decides on old ones. */
export class Generation {
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
