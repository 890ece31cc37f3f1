import { GuardUseError } from './errors.ts'
import type { Recording } from './recording.ts'
import { sizeOf, type TraceRecord } from './records.ts'
import { OncePerMinute, type Report } from './reports.ts'

/** Queued spans that trigger the send of an unfinished trace. */
const PART_SPANS = 500
/** Approximate UTF-16 units of JSON. The gateway accepts 4 MiB by default. */
const PART_SIZE = 1_048_576
/** Maximum records per request. The gateway accepts 10,000 spans or events. */
const PART_RECORDS = 2_000

export interface Entry {
  readonly recording: Recording
  readonly record: TraceRecord
  readonly size: number
}

/** Records of one trace for one request. */
export interface Batch {
  readonly recording: Recording
  readonly entries: readonly Entry[]
  /** No other record of the trace is queued. */
  readonly last: boolean
}

/** A queue of at most `max` records, oldest first. A full queue drops the oldest. */
export class Backlog {
  readonly #max: number
  readonly #report: Report
  readonly #limit = new OncePerMinute()
  #entries: Entry[] = []
  #ready = 0
  #dropped = 0

  constructor(max: number, report: Report) {
    this.#max = max
    this.#report = report
  }

  get size(): number {
    return this.#entries.length
  }
  /** Number of records that are ready to send. */
  get ready(): number {
    return this.#ready
  }
  get dropped(): number {
    return this.#dropped
  }

  add(recording: Recording, record: TraceRecord): void {
    if (this.#entries.length >= this.#max) this.#dropOldest()
    const size = sizeOf(record)
    this.#entries.push({ recording, record, size })
    recording.added()
    recording.waiting++
    recording.waitingSize += size
    if (record.kind === 'span') recording.waitingSpans++
    if (recording.waitingSpans >= PART_SPANS || recording.waitingSize >= PART_SIZE) recording.due = true
    if (recording.countedReady) this.#ready++
    else this.#count(recording)
  }

  /** Makes all queued records ready, those of unfinished traces included. Returns their traces. */
  release(): ReadonlySet<Recording> {
    const recordings = new Set(this.#entries.map(({ recording }) => recording))
    for (const recording of recordings) {
      recording.due = true
      this.#count(recording)
    }
    return recordings
  }

  /** The next batch: records of the trace that has the oldest ready record. */
  take(): Batch | undefined {
    if (this.#ready === 0) return undefined
    const recording = this.#entries.find((entry) => entry.recording.ready)?.recording
    if (recording === undefined) return undefined
    const taken: Entry[] = []
    const left: Entry[] = []
    let size = 0
    let full = false
    for (const entry of this.#entries) {
      if (entry.recording !== recording || full) left.push(entry)
      else {
        taken.push(entry)
        size += entry.size
        full = size >= PART_SIZE || taken.length >= PART_RECORDS
      }
    }
    this.#entries = left
    for (const entry of taken) this.#removed(entry)
    return { recording, entries: taken, last: recording.waiting === 0 }
  }

  /** Empties the queue and returns the entries. */
  clear(): readonly Entry[] {
    const entries = this.#entries
    this.#entries = []
    for (const entry of entries) this.#removed(entry)
    return entries
  }

  #count(recording: Recording): void {
    if (recording.countedReady || !recording.ready) return
    recording.countedReady = true
    this.#ready += recording.waiting
  }

  #removed({ recording, record, size }: Entry): void {
    recording.waiting--
    recording.waitingSize -= size
    if (record.kind === 'span') recording.waitingSpans--
    if (recording.countedReady) this.#ready--
    if (recording.waiting > 0) return
    recording.due = false
    recording.countedReady = recording.ready
  }

  #dropOldest(): void {
    const oldest = this.#entries.shift()
    if (oldest === undefined) return
    this.#removed(oldest)
    this.#dropped++
    oldest.recording.settle(1)
    if (!this.#limit.allows('QUEUE_FULL')) return
    this.#report(
      new GuardUseError(
        'QUEUE_FULL',
        `${this.#max} records wait to be sent, so the oldest are dropped, ${this.#dropped} so far. Is the gateway up? stats() counts on; maxQueue sets how many may wait.`,
      ),
    )
  }
}
