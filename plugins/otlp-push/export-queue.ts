/** What waits to be read and sent, as a reference to its row. */
export interface Waiting {
  /** How many spans or records it stands for. */
  readonly count: number
  /** Monotonic, milliseconds. */
  readonly since: number
}

/** Ended spans; of `results` so many at most. */
export interface QueuedSpans extends Waiting {
  /** `runs`: the root of a run; `results`: tool calls that end with this request, which holds their results. */
  readonly from: 'calls' | 'results' | 'mcp_audit' | 'spans' | 'runs'
  readonly trace_id: string
  /** Id of the row; for a root, of its span. */
  readonly id: string
}

/** FIFO queue of at most `max` spans or records. */
export class ExportQueue<Item extends Waiting> {
  readonly #max: number
  #queued: Item[] = []
  #count = 0

  constructor(max: number) {
    this.#max = max
  }

  get count(): number {
    return this.#count
  }

  /** Returns the number of those dropped; the oldest are dropped first. */
  add(one: Item): number {
    this.#queued.push(one)
    this.#count += one.count
    return this.#trim()
  }

  /** Puts back what cannot be sent yet. Returns the number of those dropped. */
  requeue(entries: readonly Item[]): number {
    this.#queued.unshift(...entries)
    for (const { count } of entries) this.#count += count
    return this.#trim()
  }

  /** Removes the oldest entries, at most so many spans or records, but at least one entry. */
  take(most: number): readonly Item[] {
    let entries = 0
    let taken = 0
    for (const { count } of this.#queued) {
      if (entries > 0 && taken + count > most) break
      entries++
      taken += count
    }
    this.#count -= taken
    return this.#queued.splice(0, entries)
  }

  #trim(): number {
    let dropped = 0
    while (this.#count > this.#max) {
      const { count = 0 } = this.#queued.shift() ?? {}
      this.#count -= count
      dropped += count
    }
    return dropped
  }
}
