/** Spans that have ended, by the row that they are read from when they are sent. */
export interface QueuedSpans {
  /** `runs`: the root of a run. */
  readonly from: 'calls' | 'mcp_audit' | 'spans' | 'runs'
  readonly trace_id: string
  /** Of the row; of a root that of its span. */
  readonly id: string
  /** How many spans that are: a call also stands for the tool calls of its reply. */
  readonly spans: number
  /** Monotonic time, milliseconds. */
  readonly since: number
}

/** Spans to be sent, oldest first, at most `max`. */
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

  /** Returns how many spans were dropped for it, oldest first. */
  add(one: QueuedSpans): number {
    this.#queued.push(one)
    this.#spans += one.spans
    return this.#trim()
  }

  /** Puts back spans that cannot be sent yet. Returns how many were dropped. */
  requeue(taken: readonly QueuedSpans[]): number {
    this.#queued.unshift(...taken)
    for (const { spans } of taken) this.#spans += spans
    return this.#trim()
  }

  /** Takes the oldest entries, at most so many spans; more only if one entry alone has more. */
  take(most: number): readonly QueuedSpans[] {
    let count = 0
    let spans = 0
    for (const one of this.#queued) {
      if (count > 0 && spans + one.spans > most) break
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
