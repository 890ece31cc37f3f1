/** A queue that is read as an async iterator. `onLow` is called when it runs empty. */
export class Queue<T> implements AsyncIterable<T> {
  readonly #ready: T[] = []
  readonly #onLow: () => void
  #waiting: PromiseWithResolvers<void> | undefined
  #ended = false
  #failure: Error | undefined

  constructor(onLow: () => void = () => {}) {
    this.#onLow = onLow
  }

  get size(): number {
    return this.#ready.length
  }

  push(thing: T): void {
    if (this.#ended) return
    this.#ready.push(thing)
    this.#wake()
  }

  /** Drops the oldest thing. */
  shift(): void {
    this.#ready.shift()
  }

  /** Nothing follows; an error is given to the reader after the last thing. */
  end(failure?: Error): void {
    this.#ended = true
    this.#failure ??= failure
    this.#wake()
  }

  [Symbol.asyncIterator](): AsyncGenerator<T> {
    return this.read()
  }

  /** The things from now on until `signal`; what is left then is for who reads next. One reads at a time. */
  async *read(signal?: AbortSignal): AsyncGenerator<T> {
    signal?.addEventListener('abort', () => this.#wake(), { once: true })
    while (signal?.aborted !== true) {
      const next = this.#ready.shift()
      if (next !== undefined) {
        yield next
        continue
      }
      this.#onLow()
      if (this.#failure !== undefined) throw this.#failure
      if (this.#ended) return
      this.#waiting = Promise.withResolvers<void>()
      await this.#waiting.promise
    }
  }

  #wake(): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}
