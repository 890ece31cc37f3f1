import type { StorageState } from 'guard-gateway/core'

/** The state of a storage, with its listeners. */
export class State {
  #now: StorageState = 'ok'
  readonly #listeners = new Set<(state: StorageState) => void>()

  get now(): StorageState {
    return this.#now
  }

  set(state: StorageState): void {
    if (state === this.#now) return
    this.#now = state
    for (const listener of [...this.#listeners]) listener(state)
  }

  listen(listener: (state: StorageState) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
