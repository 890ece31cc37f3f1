/** Starts long work one piece at a time, each in its own turn of the event loop, so that short requests run in between. */
export class SerialQueue {
  readonly #waiting: (() => void)[] = []
  #busy = false

  /** Resolves when the caller may start; undefined: at once. */
  turn(): Promise<void> | undefined {
    if (this.#busy) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#take()
    return undefined
  }

  #take(): void {
    this.#busy = true
    setImmediate(() => {
      const next = this.#waiting.shift()
      if (next === undefined) this.#busy = false
      else {
        this.#take()
        next()
      }
    })
  }
}
