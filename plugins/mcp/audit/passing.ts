import type { Change, FragmentRun, Gateway, Origin } from 'guard-gateway/core'
import { recordsOf } from './records.ts'
import type { Piece } from './run-writer.ts'
import type { AuditRow } from './tables.ts'

/** The record of a forwarded call waits for its end, so that both are one write: longer than this, at most twice as long, in milliseconds. */
const TOGETHER_MS = 2
/** From when on Replay shows a call that runs. */
const SHOWN_MS = 100

/** What its end adds to the record of a call. */
export type End = Pick<AuditRow, 'outcome' | 'duration_ms' | 'duration_us' | 'result_bytes'>

/** A forwarded call on its way through the records. */
export class PassingCall {
  readonly origin: Origin
  readonly run: FragmentRun
  /** Settles when the decision is durable, or cannot be. */
  readonly decided = Promise.withResolvers<void>()
  row: AuditRow
  end: End | undefined
  /** `fresh`: nothing is written; `written`: the decision is on its way; `kept`: it is durable; `told`: its run knows that it runs. */
  state: 'fresh' | 'written' | 'kept' | 'told' | 'lost' = 'fresh'

  constructor(origin: Origin, run: FragmentRun, row: AuditRow) {
    this.origin = origin
    this.run = run
    this.row = row
    // whoever answers the call waits for it; a call without an answer has nobody who does
    this.decided.promise.catch(() => {})
  }
}

/**
 * The records of calls that are forwarded before their decisions are durable. One that ends soon is one row, from which its trace is read;
 * one that takes longer is two changes of a row; one that is worth showing while it runs, or that says something new of its run, is told to it.
 * What has ended is written once it is as much as still may end soon: many calls at once then share a commit, and a lone one waits for nobody.
 */
export class PassingCalls {
  readonly #gateway: Gateway
  readonly #keep: (piece: Piece, urgent: boolean) => Promise<void>
  /** Those taken up since the timer ran last, and those it has seen once. */
  #fresh: PassingCall[] = []
  #older: PassingCall[] = []
  /** How many of both have not ended. */
  #open = 0
  #ended: PassingCall[] = []
  readonly #running = new Set<PassingCall>()
  readonly #writing = new Set<Promise<unknown>>()
  #soon: NodeJS.Timeout | undefined
  #later: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, keep: (piece: Piece, urgent: boolean) => Promise<void>) {
    this.#gateway = gateway
    this.#keep = keep
  }

  /** Takes up a call that is about to be forwarded. */
  add(call: PassingCall): void {
    this.#fresh.push(call)
    this.#open++
    this.#soon ??= setTimeout(() => this.#look(), TOGETHER_MS)
  }

  /** The call has ended. */
  end(call: PassingCall, end: End): void {
    call.end = end
    if (call.state === 'fresh') this.#open--
    if (call.state !== 'written') this.#finish(call)
  }

  /** Resolves when everything is written, and calls that run are known to their runs. */
  async flush(): Promise<void> {
    // all of them may be older than the timer has seen
    this.#look()
    this.#look()
    while (this.#writing.size > 0) await Promise.allSettled([...this.#writing])
    this.#show()
    while (this.#writing.size > 0) await Promise.allSettled([...this.#writing])
  }

  #finish(call: PassingCall): void {
    this.#running.delete(call)
    if (call.state === 'lost') return
    this.#ended.push(call)
    // while more of them are open the timer runs
    if (this.#ended.length >= this.#open) this.#finishAll()
  }

  /** Writes what has ended. */
  #finishAll(): void {
    const calls = this.#ended
    if (calls.length === 0) return
    this.#ended = []
    const written = Promise.withResolvers<void>()
    written.promise.catch(() => {})
    const changes: Change[] = []
    const plain: PassingCall[] = []
    for (const call of calls) {
      const record: AuditRow = { ...call.row, ...call.end, traced: true }
      if (call.state !== 'told' && this.#gateway.hooks.tool.call(false, { record, written: written.promise })) {
        if (call.state === 'fresh') changes.push({ table: 'mcp_audit', put: record })
        else changes.push(changeOf(call, { ...call.end, traced: true }))
        plain.push(call)
      } else this.#tell(call)
    }
    if (plain.length === 0) return
    this.#follow(this.#gateway.storage.write(changes), (error) => {
      if (error === undefined) written.resolve()
      else written.reject(error)
      for (const call of plain) settle(call, error)
    })
  }

  /** Writes what has ended, and the decisions of calls that take longer. */
  #look(): void {
    clearTimeout(this.#soon)
    const late = this.#older.filter(isOpen)
    this.#older = this.#fresh.filter(isOpen)
    this.#fresh = []
    this.#soon = this.#older.length === 0 ? undefined : setTimeout(() => this.#look(), TOGETHER_MS)
    this.#finishAll()
    this.#write(late)
  }

  #write(calls: readonly PassingCall[]): void {
    if (calls.length === 0) return
    this.#open -= calls.length
    for (const call of calls) {
      call.state = 'written'
      this.#running.add(call)
    }
    this.#later ??= setTimeout(() => this.#show(), SHOWN_MS)
    this.#follow(this.#gateway.storage.write(calls.map((call) => changeOf(call, {}, 'fresh'))), (error) => {
      for (const call of calls) {
        settle(call, error)
        if (error !== undefined) this.#running.delete(call)
        else if (call.end !== undefined) this.#finish(call)
      }
    })
  }

  /** Tells runs of their calls that go on. */
  #show(): void {
    clearTimeout(this.#later)
    this.#later = undefined
    for (const call of this.#running) {
      if (call.state !== 'kept') continue
      this.#running.delete(call)
      call.state = 'told'
      const { span, event } = recordsOf(call.row, false)
      this.#put(call, { spans: [span], events: [event], rows: [] })
    }
    if (this.#running.size > 0) this.#later = setTimeout(() => this.#show(), SHOWN_MS)
  }

  /** Tells a run of a call that has ended. */
  #tell(call: PassingCall): void {
    const { end = {}, state } = call
    const { span, event } = recordsOf({ ...call.row, ...end }, false)
    const writing = this.#put(call, {
      spans: [span],
      events: state === 'told' ? [] : [event],
      rows: [changeOf(call, end)],
    })
    if (state === 'fresh') writing.then((error) => settle(call, error))
  }

  #put({ origin, run }: PassingCall, records: Pick<Piece, 'spans' | 'events' | 'rows'>): Promise<unknown> {
    const piece: Piece = { origin, run, ...records, whole: true, conditional: false }
    return this.#follow(this.#keep(piece, true), () => {})
  }

  /** Resolves with the error that a write failed with, after `then` was told. */
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

const isOpen = ({ end }: PassingCall): boolean => end === undefined

/** What is written of a call: its whole record the first time, then what is new. */
const changeOf = ({ row, state }: PassingCall, more: Partial<AuditRow>, as = state): Change =>
  as === 'fresh' ? { table: 'mcp_audit', put: { ...row, ...more } } : { table: 'mcp_audit', key: row.id, patch: more }

const settle = (call: PassingCall, error: unknown): void => {
  if (error !== undefined) {
    call.state = 'lost'
    call.decided.reject(error)
    return
  }
  if (call.state !== 'told') call.state = 'kept'
  call.decided.resolve()
}
