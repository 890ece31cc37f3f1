/** A source of a merged stream, which can be stopped. */
export interface Source<T> {
  readonly items: AsyncIterable<T> | Iterable<T>
  stop(): void
}

/** Several streams as one; a source gives its next item when its last one was taken. */
export class MergedStream<T> implements AsyncIterable<T> {
  readonly #sources = new Set<Source<T>>()
  readonly #waiting: { readonly item: T; readonly taken: () => void }[] = []
  #wake: (() => void) | undefined
  #isOver = false

  get size(): number {
    return this.#sources.size
  }

  /** `ended` is called when the source ends by itself. */
  add(source: Source<T>, ended: () => void = () => {}): void {
    this.#sources.add(source)
    if (this.#isOver) source.stop()
    void this.#read(source)
      .catch(() => {})
      .then(() => {
        this.#sources.delete(source)
        if (!this.#isOver) ended()
      })
  }

  async #read(source: Source<T>): Promise<void> {
    for await (const item of source.items) {
      if (this.#isOver) return
      await new Promise<void>((taken) => {
        this.#waiting.push({ item, taken })
        this.#wake?.()
      })
    }
  }

  /** Ends the stream and all its sources. */
  stop(): void {
    this.#isOver = true
    for (const source of this.#sources) source.stop()
    for (const { taken } of this.#waiting) taken()
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    try {
      while (!this.#isOver) {
        const next = this.#waiting.shift()
        if (next === undefined) {
          await new Promise<void>((wake) => {
            this.#wake = wake
          })
          continue
        }
        yield next.item
        next.taken()
      }
    } finally {
      this.stop()
    }
  }
}
