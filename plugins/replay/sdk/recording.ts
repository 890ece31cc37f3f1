import type { FailureTag } from './api.ts'
import { AttributeSet } from './attribute-set.ts'
import { newSpanId } from './ids.ts'
import type { SpanRecord } from './records.ts'

/** The fields of a whole trace. */
export interface TraceInfo {
  readonly trace_id: string
  readonly name: string
  readonly project: string | undefined
  readonly session_id: string | undefined
  readonly task_id: string | undefined
  readonly agent: string | undefined
  /** Span of another process, whose trace this one continues. The name and the end of the run then belong to that process. */
  readonly remote_parent: string | undefined
}

interface Waiter {
  readonly target: number
  readonly resolve: () => void
}

/** A trace under construction: its root and the counts of its queued records. */
export class Recording {
  readonly info: TraceInfo
  readonly clock: TraceClock = traceClock()
  readonly root: SpanRecord
  readonly tags = new Set<string>()
  failureTag: FailureTag | undefined
  /** Send the queued records before the trace ends. */
  due = false
  /** Queued records, their spans and their size. Updated by the backlog. */
  waiting = 0
  waitingSpans = 0
  waitingSize = 0
  /** Something of it was sent, and perhaps stored. */
  mayBeStored = false
  /** The backlog counts these records as ready. */
  countedReady = false
  readonly #live: boolean
  #added = 0
  #settled = 0
  #waiters: Waiter[] = []

  constructor(info: TraceInfo, live: boolean) {
    this.info = info
    this.#live = live
    this.root = {
      kind: 'span',
      id: newSpanId(),
      parent_id: info.remote_parent,
      name: 'agent.run',
      start_ns: this.clock(),
      end_ns: undefined,
      status: 'ok',
      message: undefined,
      attributeSet: new AttributeSet(),
    }
  }

  /** Its records are ready to send. */
  get ready(): boolean {
    return this.#live || this.due || this.root.end_ns !== undefined
  }

  added(): void {
    this.#added++
  }

  /** The oldest `count` records were stored or dropped. */
  settle(count: number): void {
    this.#settled += count
    if (this.#waiters.length === 0) return
    for (const waiter of this.#waiters) if (waiter.target <= this.#settled) waiter.resolve()
    this.#waiters = this.#waiters.filter((waiter) => waiter.target > this.#settled)
  }

  /** Resolves when all records added so far are settled. */
  settled(): Promise<void> {
    if (this.#settled >= this.#added) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push({ target: this.#added, resolve }))
  }
}

/** Nanoseconds since 1970. Monotonic within one trace. */
type TraceClock = () => bigint

/** Reads the wall clock once, then the monotonic clock, so that a clock change does not distort a trace. */
const traceClock = (): TraceClock => {
  const offset = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint()
  return () => offset + process.hrtime.bigint()
}
