import type { Gateway, Reader } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import type { MemoryBudget, MemoryPart } from '#lib/memory-budget'
import { traceOf } from '#lib/trace'
import type { EventRow, Provided, RunRow, SpanRow } from '../tables.ts'
import { type DeferredRecord, OpenRun } from './open-run.ts'
import { storedRecords } from './stored-records.ts'

const IDLE_MS = 30 * 60_000
/** Idle time of full runs, to which only requests in flight are added. */
const FULL_IDLE_MS = 10_000
/** How often runs are looked through, which takes as long as there are many, unless memory is short. */
const TRIM_MS = 1_000
/** Uses within this time count as one. */
const TOUCH_MS = 1_000
/** Evicted runs whose deferred records are remembered. */
const MAX_EVICTED = 100

/** LRU cache of runs that were written lately; any other run is loaded from storage. */
export class OpenRuns {
  readonly #gateway: Gateway
  readonly #memory: MemoryPart
  readonly #maxBytes: number
  #trimmed_at = 0
  /** Estimated size in memory at the last trim, and of what was added since. */
  #held = 0
  readonly #runs = new Map<string, OpenRun>()
  readonly #loading = new Map<string, Promise<OpenRun | undefined>>()
  /** Deferred records of dropped runs, which may not be stored when the run is loaded again. */
  readonly #evicted = new LRU<readonly DeferredRecord[]>(MAX_EVICTED)

  /** `maxBytes`: what all open runs may take of the budget, about. */
  constructor(gateway: Gateway, budget: MemoryBudget, maxBytes = Number.POSITIVE_INFINITY) {
    this.#gateway = gateway
    this.#memory = budget.part({ name: 'open_runs', shrink: (bytes) => this.#trim(bytes) })
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#runs.size
  }

  /** Estimated size in memory. */
  get bytes(): number {
    let bytes = 0
    for (const run of this.#runs.values()) bytes += run.bytes
    return bytes
  }

  /** A run in memory. */
  peek(trace_id: string): OpenRun | undefined {
    const run = this.#runs.get(trace_id)
    if (run !== undefined) this.touch(run)
    return run
  }

  /** A run in memory or in storage. */
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
    // another caller of the same load may have added the run, or a new run may have begun under the id
    const current = this.peek(trace_id)
    if (current !== undefined || run === undefined) return current
    this.add(run)
    return run
  }

  add(run: OpenRun): void {
    const { trace_id } = run.row
    run.restoreDeferred(this.#evicted.get(trace_id) ?? [])
    this.#evicted.delete(trace_id)
    const before = this.#runs.get(trace_id)
    if (before !== undefined) this.#close(before)
    run.isOpen = true
    run.touched_at = this.#gateway.clock.tick()
    this.#runs.set(trace_id, run)
    this.#held += run.bytes
    if (this.#held > this.#maxBytes || run.touched_at - this.#trimmed_at >= TRIM_MS) this.#trim()
    else this.#memory.hold(this.#held)
  }

  /** A run in memory; does not count as a use. */
  at(trace_id: string): OpenRun | undefined {
    return this.#runs.get(trace_id)
  }

  /** Drops a run whose stored row may differ. */
  drop(trace_id: string): void {
    const run = this.#runs.get(trace_id)
    if (run === undefined) return
    this.#close(run)
    if (run.deferredRecords.length === 0) return
    this.#evicted.set(trace_id, run.deferredRecords)
  }

  /** Marks a run in memory as used. */
  touch(run: OpenRun): void {
    const now = this.#gateway.clock.tick()
    if (now - run.touched_at < TOUCH_MS) return
    run.touched_at = now
    this.#runs.delete(run.row.trace_id)
    this.#runs.set(run.row.trace_id, run)
    if (now - this.#trimmed_at >= TRIM_MS) this.#trim()
  }

  #close(run: OpenRun): void {
    run.isOpen = false
    this.#runs.delete(run.row.trace_id)
  }

  /** Evicts runs, least recently used first. A run with deferred records stays until its row is written, within seconds. */
  #trim(most = this.#maxBytes): void {
    const now = this.#gateway.clock.tick()
    this.#trimmed_at = now
    let { bytes } = this
    let newest = this.#runs.size
    for (const run of this.#runs.values()) {
      // the newest may have been added for what is under way
      if (--newest === 0 && most > 0) break
      const fits = bytes <= most
      const isIdle = now - run.touched_at > (run.isFull ? FULL_IDLE_MS : IDLE_MS)
      if ((fits && !isIdle) || run.deferredRecords.length > 0) continue
      bytes -= run.bytes
      this.#close(run)
    }
    this.#held = bytes
    this.#memory.hold(bytes)
  }
}

/** Rows that replace stored ones. */
interface Overrides {
  readonly spans: ReadonlyMap<string, SpanRow>
  readonly events: ReadonlyMap<string, EventRow>
}
const NO_OVERRIDES: Overrides = { spans: new Map(), events: new Map() }

/** Loads a stored run with all its records. */
export const loadRun = async (
  storage: Reader,
  trace_id: string,
  overrides: Overrides = NO_OVERRIDES,
): Promise<OpenRun | undefined> => {
  const row = await storage.get('runs', trace_id)
  if (row === undefined) return undefined
  const { spans, events, artifacts, calls, tools } = await storedRecords(storage, trace_id)
  const run = new OpenRun({ ...row, given: providedOf(row) }, true)
  for (const span of spans) run.addSpan(overrides.spans.get(span.id) ?? span)
  for (const event of events) run.addEvent(overrides.events.get(event.id) ?? event)
  for (const artifact of artifacts) run.addArtifact(artifact)
  for (const call of calls) {
    const trace = traceOf(call)
    if (trace !== undefined) run.addCall(call, trace)
  }
  for (const tool of tools) run.addStoredTool(tool)
  return run
}

/** A JSON column returns small integers as numbers. */
const providedOf = ({ given }: RunRow): Provided => ({
  ...given,
  ...(given.start_ns === undefined ? {} : { start_ns: BigInt(given.start_ns) }),
  ...(given.end_ns === undefined || given.end_ns === null ? {} : { end_ns: BigInt(given.end_ns) }),
})
