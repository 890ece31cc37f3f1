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

/** Says `busy` while a commit takes longer than `slow_ms`. One timer looks at most once per `slow_ms`, however many commits run. */
export class SlowCommits {
  readonly #state: State
  readonly #slow_ms: number
  readonly #isCommitting: () => boolean
  #since = 0
  #timer: NodeJS.Timeout | undefined

  /** `isCommitting`: a commit is running. */
  constructor(state: State, slow_ms: number, isCommitting: () => boolean) {
    this.#state = state
    this.#slow_ms = slow_ms
    this.#isCommitting = isCommitting
  }

  /** A commit begins, or another one has ended: the storage is at work. */
  begin(now: number): void {
    this.#since = now
    this.#timer ??= this.#check(this.#slow_ms)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #check(delay: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      if (!this.#isCommitting()) return
      const remaining = this.#slow_ms - (performance.now() - this.#since)
      if (remaining <= 0 && this.#state.now === 'ok') this.#state.set('busy')
      this.#timer = this.#check(remaining > 0 ? remaining : this.#slow_ms)
    }, delay).unref()
  }
}
