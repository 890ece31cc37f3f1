/** How long a reading waits for records in progress; on a disk that is full they may wait for ever. */
const WAIT_LIMIT_MS = 1_000

/**
 * Keeps requests from being put on record while something is read, so that each is either in what was read or yet to come.
 * Costs a counter while nothing is read.
 */
export class RecordingGate {
  #recording = 0
  #closed = 0
  #opened: Promise<void> | undefined
  #open: (() => void) | undefined
  #drained: (() => void) | undefined

  /** Does the work of a request that ends, before it is recorded; at once unless something is being read. */
  enter(work: () => void): void | Promise<void> {
    if (this.#closed === 0) {
      this.#recording++
      work()
      return
    }
    this.#opened ??= new Promise((resolve) => {
      this.#open = resolve
    })
    return this.#opened.then(() => this.enter(work))
  }

  /** Does work that changes what is on record, while nothing is being read. */
  async change<T>(work: () => Promise<T>): Promise<T> {
    await this.enter(() => {})
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  /** A request that entered is on record, or will not be. */
  leave(): void {
    this.#recording--
    if (this.#recording === 0) this.#drained?.()
  }

  /** Reads while no request is between its end and its record. */
  async still<T>(read: () => Promise<T>): Promise<T> {
    this.#closed++
    try {
      await this.#drain()
      return await read()
    } finally {
      this.#closed--
      if (this.#closed === 0) {
        this.#open?.()
        this.#open = undefined
        this.#opened = undefined
      }
    }
  }

  async #drain(): Promise<void> {
    if (this.#recording === 0) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      const before = this.#drained
      this.#drained = () => {
        before?.()
        resolve()
      }
      timer = setTimeout(resolve, WAIT_LIMIT_MS)
    })
    clearTimeout(timer)
    if (this.#recording === 0) this.#drained = undefined
  }
}
