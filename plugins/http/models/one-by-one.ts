/** Lets work that takes long begin one piece after the other, each in a turn of the event loop of its own, so that what is short comes in between. */
export class OneByOne {
  readonly #waiting: (() => void)[] = []
  #isTaken = false

  /** Resolves when the caller may begin; undefined: at once. */
  turn(): Promise<void> | undefined {
    if (this.#isTaken) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#take()
    return undefined
  }

  #take(): void {
    this.#isTaken = true
    setImmediate(() => {
      const next = this.#waiting.shift()
      if (next === undefined) this.#isTaken = false
      else {
        this.#take()
        next()
      }
    })
  }
}
