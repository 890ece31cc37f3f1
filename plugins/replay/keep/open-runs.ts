import type { Gateway, Reader } from 'guard-gateway/core'
import { traceOf } from 'guard-gateway/lib/trace'
import type { EventRow, Given, RunRow, SpanRow } from '../tables.ts'
import { type LateRecord, OpenRun } from './open-run.ts'
import { storedRecords } from './stored-records.ts'

const MAX_RUNS = 500
/** What all open runs may take in memory together, about. */
const MAX_BYTES = 32 * 1024 * 1024
const IDLE_MS = 30 * 60_000
/** The same of runs that nothing is added to any more, but by requests that are under way. */
const FULL_IDLE_MS = 10_000
/** How often what they take is looked up while none comes. */
const LOOK_MS = 1_000
/** Uses that follow one another faster count as one. */
const TOUCH_MS = 1_000
/** Dropped runs of which something is remembered. */
const MAX_LEFT = 100

/** The runs that were written to lately, least recently used first out; any other is read from storage. */
export class OpenRuns {
  readonly #gateway: Gateway
  readonly #most: number
  #looked_at = 0
  readonly #runs = new Map<string, OpenRun>()
  readonly #loading = new Map<string, Promise<OpenRun | undefined>>()
  /** Of runs that were dropped: what may not have been stored when they are read again. */
  readonly #left = new Map<string, readonly LateRecord[]>()

  /** `most`: bytes that they may take together. */
  constructor(gateway: Gateway, most = MAX_BYTES) {
    this.#gateway = gateway
    this.#most = most
  }

  get size(): number {
    return this.#runs.size
  }

  /** What they take in memory, about. */
  get bytes(): number {
    let bytes = 0
    for (const run of this.#runs.values()) bytes += run.bytes
    return bytes
  }

  /** A run that is in memory. */
  peek(trace_id: string): OpenRun | undefined {
    const run = this.#runs.get(trace_id)
    if (run !== undefined) this.touch(run)
    return run
  }

  /** A run that is in memory or in storage. */
  async get(trace_id: string): Promise<OpenRun | undefined> {
    const known = this.peek(trace_id)
    if (known !== undefined) return known
    let loading = this.#loading.get(trace_id)
    if (loading === undefined) {
      loading = loadRun(this.#gateway.storage, trace_id)
      this.#loading.set(trace_id, loading)
      const done = () => this.#loading.delete(trace_id)
      loading.then(done, done)
    }
    const run = await loading
    // another caller of the same load, or a new run of the id, may have come first
    const current = this.peek(trace_id)
    if (current !== undefined || run === undefined) return current
    this.add(run)
    return run
  }

  add(run: OpenRun): void {
    const { trace_id } = run.row
    run.regain(this.#left.get(trace_id) ?? [])
    this.#left.delete(trace_id)
    const before = this.#runs.get(trace_id)
    if (before !== undefined) this.#close(before)
    run.isOpen = true
    run.touched_at = this.#gateway.clock.tick()
    this.#runs.set(trace_id, run)
    this.#trim()
  }

  /** A run that is in memory, which does not count as a use. */
  at(trace_id: string): OpenRun | undefined {
    return this.#runs.get(trace_id)
  }

  /** Forgets a run whose row in storage may be another one. */
  drop(trace_id: string): void {
    const run = this.#runs.get(trace_id)
    if (run === undefined) return
    this.#close(run)
    if (run.lateRecords.length === 0) return
    this.#left.set(trace_id, run.lateRecords)
    for (const oldest of this.#left.keys()) {
      if (this.#left.size <= MAX_LEFT) return
      this.#left.delete(oldest)
    }
  }

  /** A run that is in memory is used. */
  touch(run: OpenRun): void {
    const now = this.#gateway.clock.tick()
    if (now - run.touched_at < TOUCH_MS) return
    run.touched_at = now
    this.#runs.delete(run.row.trace_id)
    this.#runs.set(run.row.trace_id, run)
    if (now - this.#looked_at >= LOOK_MS) this.#trim()
  }

  #close(run: OpenRun): void {
    run.isOpen = false
    this.#runs.delete(run.row.trace_id)
  }

  /** Lets go of runs, least recently used first; whose row is behind its records stays until it is written, which takes seconds. */
  #trim(): void {
    const now = this.#gateway.clock.tick()
    this.#looked_at = now
    let { bytes } = this
    let newest = this.#runs.size
    for (const run of this.#runs.values()) {
      if (--newest === 0) return
      const fits = this.#runs.size <= MAX_RUNS && bytes <= this.#most
      const isIdle = now - run.touched_at > (run.isFull ? FULL_IDLE_MS : IDLE_MS)
      if ((fits && !isIdle) || run.lateRecords.length > 0) continue
      bytes -= run.bytes
      this.#close(run)
    }
  }
}

/** Rows that stand for those in storage. */
interface Replaced {
  readonly spans: ReadonlyMap<string, SpanRow>
  readonly events: ReadonlyMap<string, EventRow>
}
const NONE: Replaced = { spans: new Map(), events: new Map() }

/** A stored run, ready to be written to. */
export const loadRun = async (
  storage: Reader,
  trace_id: string,
  replaced: Replaced = NONE,
): Promise<OpenRun | undefined> => {
  const row = await storage.get('runs', trace_id)
  if (row === undefined) return undefined
  const { spans, events, artifacts, calls, tools } = await storedRecords(storage, trace_id)
  const run = new OpenRun({ ...row, given: givenOf(row) }, true)
  for (const span of spans) run.addSpan(replaced.spans.get(span.id) ?? span)
  for (const event of events) run.addEvent(replaced.events.get(event.id) ?? event)
  for (const artifact of artifacts) run.addArtifact(artifact)
  for (const call of calls) {
    const trace = traceOf(call)
    if (trace !== undefined) run.addCall(call, trace)
  }
  for (const tool of tools) run.addStoredTool(tool)
  return run
}

/** Small integers come back from a json column as numbers. */
const givenOf = ({ given }: RunRow): Given => ({
  ...given,
  ...(given.start_ns === undefined ? {} : { start_ns: BigInt(given.start_ns) }),
  ...(given.end_ns === undefined || given.end_ns === null ? {} : { end_ns: BigInt(given.end_ns) }),
})
