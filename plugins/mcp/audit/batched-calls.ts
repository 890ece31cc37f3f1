import type { Change, Gateway, WriteOptions } from 'guard-gateway/core'
import type { RecordListener } from './audit-records.ts'
import type { BatchedCall, End } from './entry.ts'
import { recordsOf } from './records.ts'
import type { RunUpdate } from './run-writer.ts'
import type { AuditRow } from './tables.ts'

/** How long the end of a call may wait for the next write, in milliseconds. */
const END_BATCH_MS = 5
/** After this time, in milliseconds, Replay shows a call that still runs; at the latest after twice the time. */
const VISIBLE_AFTER_MS = 100

/** Ends of calls that are written together. */
interface Ends {
  readonly changes: Change[]
  /** Settles when they are durable, or cannot be. */
  readonly written: PromiseWithResolvers<void>
}

/**
 * The records of calls that are forwarded. Decisions go to the disk together at the end of the turn in which they were made; the ends of
 * calls ride with the next ones. The trace of a call is read from its record, unless it is worth showing while it runs, or says something
 * new of its run, which is then told.
 */
export class BatchedCalls {
  readonly #gateway: Gateway
  readonly #keep: (update: RunUpdate, urgent: boolean) => Promise<void>
  /** Told of calls that have ended. */
  readonly #ended: RecordListener
  #unwritten: BatchedCall[] = []
  #ends: Ends | undefined
  /** Those written since running calls were shown last, and those that ran then. */
  #young: BatchedCall[] = []
  #old: BatchedCall[] = []
  readonly #writing = new Set<Promise<unknown>>()
  /** Of these: ends that are read from records. */
  readonly #ending = new Set<Promise<unknown>>()
  #endsTimer: NodeJS.Timeout | undefined
  #showTimer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, keep: (update: RunUpdate, urgent: boolean) => Promise<void>, ended: RecordListener) {
    this.#gateway = gateway
    this.#keep = keep
    this.#ended = ended
  }

  /** From now on every reader sees the ends of answered calls. */
  begin(): void {
    this.#gateway.storage.beforeReads('mcp_audit', () => {
      this.#writeEnds()
      return this.#ending.size === 0 ? undefined : Promise.allSettled([...this.#ending])
    })
  }

  /** Writes the decision about a call; resolves when it is durable, rejects if it cannot be. */
  add(call: BatchedCall): Promise<void> {
    if (this.#unwritten.push(call) === 1) setImmediate(() => this.#write())
    return call.written.promise
  }

  /**
   * The call has ended. Its end is put where the next write takes it along, if its trace is read from its record; else its run is told.
   * Resolves when it may be answered; undefined: at once.
   */
  end(call: BatchedCall, end: End): Promise<void> | undefined {
    call.end = end
    const ends = this.#ends ?? noEnds()
    const record: AuditRow = { ...call.row, ...end, traced: true }
    if (call.isAnnounced || !this.#gateway.hooks.tool.call(false, { record, written: ends.written.promise }))
      return this.#updateRun(call, end)
    this.#ends = ends
    this.#endsTimer ??= setTimeout(() => {
      this.#endsTimer = undefined
      this.#writeEnds()
    }, END_BATCH_MS)
    this.#ended(call.row.id, call.row.project_id)
    ends.changes.push({ table: 'mcp_audit', key: call.row.id, patch: { ...end, traced: true } })
    return undefined
  }

  /** Resolves when everything is written, and calls that run are known to their runs. */
  async flush(): Promise<void> {
    this.#write()
    await this.#written()
    this.#writeEnds()
    await this.#written()
    this.#show()
    this.#show()
    await this.#written()
  }

  async #written(): Promise<void> {
    while (this.#writing.size > 0) await Promise.allSettled([...this.#writing])
  }

  /** Writes the decisions of a turn, and the ends that wait. */
  #write(): void {
    const calls = this.#unwritten
    this.#unwritten = []
    this.#writeEnds()
    if (calls.length === 0) return
    const rows = calls.map(({ row }): Change => ({ table: 'mcp_audit', put: row }))
    this.#follow(this.#gateway.storage.write(rows, UNCONDITIONAL), (error) => {
      if (error !== undefined) for (const { written } of calls) written.reject(error)
      else this.#forward(calls)
    })
  }

  #writeEnds(): void {
    if (this.#ends === undefined) return
    const { changes, written } = this.#ends
    this.#ends = undefined
    const ending = this.#follow(this.#gateway.storage.write(changes, UNCONDITIONAL), (error) => {
      this.#ending.delete(ending)
      if (error === undefined) written.resolve()
      else written.reject(error)
    })
    this.#ending.add(ending)
  }

  /** Lets calls be forwarded whose decisions are durable. */
  #forward(calls: readonly BatchedCall[]): void {
    for (const { written } of calls) written.resolve()
    this.#young.push(...calls)
    this.#showTimer ??= setTimeout(() => this.#show(), VISIBLE_AFTER_MS)
  }

  /** Adds calls that still run to their runs. */
  #show(): void {
    clearTimeout(this.#showTimer)
    for (const call of this.#old.filter(isOpen)) {
      call.isAnnounced = true
      void this.#updateRun(call)
    }
    this.#old = this.#young.filter(isOpen)
    this.#young = []
    this.#showTimer = this.#old.length === 0 ? undefined : setTimeout(() => this.#show(), VISIBLE_AFTER_MS)
  }

  /** Adds a call that runs, or has ended, to its run. Never rejects. */
  async #updateRun({ origin, run, row, isAnnounced }: BatchedCall, end?: End): Promise<void> {
    const { span, event } = recordsOf({ ...row, ...end }, false)
    const events = end === undefined || !isAnnounced ? [event] : []
    const rows: Change[] = end === undefined ? [] : [{ table: 'mcp_audit', key: row.id, patch: end }]
    const update: RunUpdate = { origin, run, spans: [span], events, rows, whole: true, conditional: false }
    await this.#follow(this.#keep(update, true), () => {})
  }

  /** Resolves with the error of a failed write, after `then` was called. */
  #follow(work: Promise<unknown>, then: (error: unknown) => void): Promise<unknown> {
    const followed: Promise<unknown> = work
      .then(
        () => undefined,
        (error: unknown) => {
          this.#gateway.fault(error, 'mcp:record')
          return error ?? new Error('The write failed.')
        },
      )
      .then((error) => {
        this.#writing.delete(followed)
        then(error)
        return error
      })
    this.#writing.add(followed)
    return followed
  }
}

/** These writes have no condition, so they count as done as soon as they are durable. */
const UNCONDITIONAL: WriteOptions = { onRefused: () => {} }

const noEnds = (): Ends => {
  const written = Promise.withResolvers<void>()
  written.promise.catch(() => {})
  return { changes: [], written }
}

const isOpen = ({ end }: BatchedCall): boolean => end === undefined
