/** Spans that have ended, by the row that they are read from when they are sent. */
export interface Waiting {
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

/** What waits to be sent, oldest first, never more than `max` spans. */
export class SpanQueue {
  readonly #max: number
  #waiting: Waiting[] = []
  #spans = 0

  constructor(max: number) {
    this.#max = max
  }

  get spans(): number {
    return this.#spans
  }

  /** Gives how many spans were dropped for it, the oldest first. */
  add(one: Waiting): number {
    this.#waiting.push(one)
    this.#spans += one.spans
    return this.#trim()
  }

  /** Puts back what was taken and cannot be sent yet; gives how many spans were dropped. */
  putBack(taken: readonly Waiting[]): number {
    this.#waiting.unshift(...taken)
    for (const { spans } of taken) this.#spans += spans
    return this.#trim()
  }

  /** The oldest, of at most so many spans; of more only where one alone has more. */
  take(most: number): readonly Waiting[] {
    let count = 0
    let spans = 0
    for (const one of this.#waiting) {
      if (count > 0 && spans + one.spans > most) break
      count++
      spans += one.spans
    }
    this.#spans -= spans
    return this.#waiting.splice(0, count)
  }

  #trim(): number {
    let dropped = 0
    while (this.#spans > this.#max) {
      const { spans = 0 } = this.#waiting.shift() ?? {}
      this.#spans -= spans
      dropped += spans
    }
    return dropped
  }
}
