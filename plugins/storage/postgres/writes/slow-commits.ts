import type { State } from '../state.ts'

const SLOW_MS = 1_000

/** Says `busy` while a commit takes over a second. One timer looks once a second while something runs. */
export class SlowCommits {
  readonly #state: State
  #running = 0
  #since = 0
  #timer: NodeJS.Timeout | undefined

  constructor(state: State) {
    this.#state = state
  }

  started(): void {
    if (this.#running++ === 0) this.#since = performance.now()
    this.#timer ??= this.#check(SLOW_MS)
  }

  /** A commit has ended, whichever: the server is at work. */
  ended(): void {
    this.#running--
    this.#since = performance.now()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #check(delay: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined
      if (this.#running === 0) return
      const remaining = SLOW_MS - (performance.now() - this.#since)
      if (remaining <= 0 && this.#state.now === 'ok') this.#state.set('busy')
      this.#timer = this.#check(remaining > 0 ? remaining : SLOW_MS)
    }, delay).unref()
  }
}
