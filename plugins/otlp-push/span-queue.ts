/** Ended spans, as a reference to their row. */
export interface QueuedSpans {
  /** `runs`: the root of a run; `results`: tool calls that end with this request, which holds their results. */
  readonly from: 'calls' | 'results' | 'mcp_audit' | 'spans' | 'runs'
  readonly trace_id: string
  /** Id of the row; for a root, of its span. */
  readonly id: string
  /** Number of spans; of `results` so many at most. */
  readonly spans: number
  /** Monotonic, milliseconds. */
  readonly since: number
}

/** FIFO queue of at most `max` spans. */
export class SpanQueue {
  readonly #max: number
  #queued: QueuedSpans[] = []
  #spans = 0

  constructor(max: number) {
    this.#max = max
  }

  get spans(): number {
    return this.#spans
  }

  /** Returns the number of dropped spans; the oldest are dropped first. */
  add(one: QueuedSpans): number {
    this.#queued.push(one)
    this.#spans += one.spans
    return this.#trim()
  }

  /** Puts back spans that cannot be sent yet. Returns the number of dropped spans. */
  requeue(entries: readonly QueuedSpans[]): number {
    this.#queued.unshift(...entries)
    for (const { spans } of entries) this.#spans += spans
    return this.#trim()
  }

  /** Removes the oldest entries, at most `most` spans, but at least one entry. */
  take(max_spans: number): readonly QueuedSpans[] {
    let count = 0
    let spans = 0
    for (const one of this.#queued) {
      if (count > 0 && spans + one.spans > max_spans) break
      count++
      spans += one.spans
    }
    this.#spans -= spans
    return this.#queued.splice(0, count)
  }

  #trim(): number {
    let dropped = 0
    while (this.#spans > this.#max) {
      const { spans = 0 } = this.#queued.shift() ?? {}
      this.#spans -= spans
      dropped += spans
    }
    return dropped
  }
}
