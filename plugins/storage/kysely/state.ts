import type { StorageState } from 'guard-gateway/core'

/** The state of a storage, with its listeners. */
export class State {
  #now: StorageState = 'ok'
  #broken = false
  readonly #listeners = new Set<(state: StorageState) => void>()

  get now(): StorageState {
    return this.#now
  }
  /** Whether writing is known to be impossible at the moment. */
  get down(): boolean {
    return this.#now === 'full' || this.#now === 'failing'
  }
  /** Stays `failing` until the process ends: the file cannot be trusted. */
  fail(): void {
    this.#broken = true
    this.set('failing')
  }
  set(requested: StorageState): void {
    const state = this.#broken ? 'failing' : requested
    if (state === this.#now) return
    this.#now = state
    for (const listener of [...this.#listeners]) listener(state)
  }
  listen(listener: (state: StorageState) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
