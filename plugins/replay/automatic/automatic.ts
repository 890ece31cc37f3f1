import type { Call, CallTrace, Gateway, Recording } from 'guard-gateway/core'
import { isProjectReplaceable, newSpanId, newTraceId, readTraceparent } from 'guard-gateway/lib/trace'
import { LRU } from 'tiny-lru'
import { NS_PER_MS, nowNs } from '../time.ts'
import { labelsWith } from '../write/labels.ts'
import { OpenRun } from '../write/open-run.ts'
import { callChange, runChange } from '../write/run-change.ts'
import { isGuarded, newRow, withProject } from '../write/run-row.ts'
import type { RunWriter } from '../write/run-writer.ts'
import { type SummedCall, summedCall } from '../write/summed-span.ts'

/** A run of this many spans is not added to; the session goes on in a new one. */
const MAX_SPANS = 5_000
const MAX_SESSIONS = 10_000
/** Runs of a session that are looked at for one to go on with. */
const RECENT_RUNS = 5

/** Where a call stands, and what became of it there. */
interface Placed extends CallTrace {
  /** The run that it joined or was added to. */
  run?: OpenRun
  /** Its run is written later, so that it has no part in what the storage may refuse. */
  isDeferred?: boolean
}

/** Gives every model request its place in a run: the one its caller names, else that of its session, else a new one. */
export class Automatic {
  readonly #gateway: Gateway
  readonly #runWriter: RunWriter
  readonly #idle_ms: number
  /** The run that each session goes on with. */
  readonly #sessions = new LRU<string>(MAX_SESSIONS)
  readonly #isWatched: () => boolean

  /** `isWatched`: somebody wants to be told of every change of a run. */
  constructor(gateway: Gateway, runWriter: RunWriter, idle_ms: number, isWatched: () => boolean) {
    this.#gateway = gateway
    this.#runWriter = runWriter
    this.#idle_ms = idle_ms
    this.#isWatched = isWatched
  }

  /** Fills in where the call stands; undefined if it did so at once. A run that cannot be found out costs the call its trace, nothing else. */
  join(call: Call): Promise<void> | undefined {
    const id = call.session?.row.id
    const run = id === undefined || call.headers.traceparent !== undefined ? undefined : this.#remembered(call, id)
    if (run === undefined) return this.#found(call)
    place(call, run, null)
    return undefined
  }

  async #found(call: Call): Promise<void> {
    try {
      await this.#join(call)
    } catch (error) {
      this.#gateway.fault(error, 'replay:join')
    }
  }

  async #join(call: Call): Promise<void> {
    const named = readTraceparent(call.headers.traceparent)
    if (named !== undefined) {
      const run = await this.#named(call, named.trace_id)
      if (run !== undefined) return place(call, run, named.span_id)
      call.notes.trace_join_refused = true
    }
    const id = call.session?.row.id
    if (id === undefined) return place(call, this.#begin(call, newTraceId(call.at)), null)
    const recent = this.#remembered(call, id) ?? (await this.#recent(call, id))
    // another request of the session may have begun a run meanwhile; from here on nothing waits
    const run = this.#remembered(call, id) ?? recent ?? this.#begin(call, newTraceId(call.at))
    place(call, run, null)
    this.#sessions.set(id, run.row.trace_id)
  }

  /** Adds a settled call to its run, and the change of the run to what is written; undefined if it did so at once. */
  record(recording: Recording): Promise<void> | undefined {
    const { call } = recording.settled
    const trace: Placed | undefined = call.trace
    if (trace === undefined || trace.isDeferred === true) return undefined
    const { runs } = this.#runWriter
    if (recording.attempt > 0 && trace.run?.isOpen === true) runs.drop(trace.trace_id)
    const known = trace.run?.isOpen === true ? trace.run : runs.peek(trace.trace_id)
    if (known === undefined)
      return runs.get(trace.trace_id).then((read) => {
        // another call of the run may have waited for the same reading and begun it anew
        const run = read ?? runs.peek(trace.trace_id) ?? this.#begin(call, trace.trace_id)
        this.#add(recording, trace, run)
      })
    runs.touch(known)
    this.#add(recording, trace, known)
    return undefined
  }

  #add(recording: Recording, trace: Placed, run: OpenRun): void {
    const { record } = recording
    trace.run = run
    const isLabelled = this.#label(run, recording.settled.call)
    const taken = isLabelled || this.#isWatched() ? undefined : run.take(record, trace)
    if (taken !== undefined) this.#defer(taken, trace, run)
    else this.#addNow(recording, trace, run, isLabelled)
  }

  /** Says whose the run is where nobody has said so; true if something is new. */
  #label(run: OpenRun, call: Call): boolean {
    const { session, agent_id } = call
    const { row } = run
    if (row.project_id !== call.project_id && namesProject(call) && isProjectReplaceable(row)) {
      const labels = labelsWith(row, { session_id: session?.row.id ?? null, agent_id })
      run.describe({ ...row, ...labels, ...withProject(row, call.project_id) }, true)
      return true
    }
    if (row.session_id !== null && (row.agent_id !== null || agent_id === null)) return false
    const labels = labelsWith(row, { session_id: session?.row.id ?? null, agent_id })
    if (labels.session_id === row.session_id && labels.agent_id === row.agent_id) return false
    run.describe({ ...row, ...labels }, true)
    return true
  }

  #addNow({ record, batch }: Recording, trace: Placed, run: OpenRun, isLabelled: boolean): void {
    const words = run.words.size
    run.addCall(record, trace, this.#gateway.redact.text)
    const hasNewWords = run.words.size !== words
    if (!isLabelled && !hasNewWords && run.changesSumsOnly(record) && !this.#isWatched()) {
      run.noteSumOnly(record)
      this.#defer(summedCall(record, trace), trace, run)
      return
    }
    this.#runWriter.deferred.delete(run)
    const now_ns = nowNs(this.#gateway.clock)
    batch.push(isLabelled ? runChange(run, true, now_ns) : callChange(run, hasNewWords, now_ns))
    this.#runWriter.written(run.row)
  }

  #defer(call: SummedCall, trace: Placed, run: OpenRun): void {
    run.deferredRecords.push(call)
    trace.isDeferred = true
    this.#runWriter.deferred.add(run)
  }

  /** The run of a caller's trace; undefined if it belongs to another project. */
  async #named(call: Call, trace_id: string): Promise<OpenRun | undefined> {
    const { runs } = this.#runWriter
    const found = runs.peek(trace_id) ?? (await runs.get(trace_id))
    const run = found ?? runs.peek(trace_id) ?? this.#begin(call, trace_id)
    return isOfProject(call, run) || isProjectReplaceable(run.row) ? run : undefined
  }

  #remembered(call: Call, session_id: string): OpenRun | undefined {
    const trace_id = this.#sessions.get(session_id)
    const run = trace_id === undefined ? undefined : this.#runWriter.runs.peek(trace_id)
    return run !== undefined && this.#goesOn(call, run) ? run : undefined
  }

  /** The newest run of a session that began before this process did, or long ago. */
  async #recent(call: Call, session_id: string): Promise<OpenRun | undefined> {
    const { stored, open = 0 } = call.session ?? {}
    if (stored !== true && open <= 1) return undefined
    const trace_id = this.#sessions.get(session_id) ?? (await this.#newest(session_id))
    const run = trace_id === undefined ? undefined : await this.#runWriter.runs.get(trace_id)
    return run !== undefined && this.#goesOn(call, run) ? run : undefined
  }

  async #newest(session_id: string): Promise<string | undefined> {
    const { rows } = await this.#gateway.storage.find('runs', { where: { session_id }, limit: RECENT_RUNS })
    return rows.find((found) => isGuarded(found) && found.origin !== 'mcp')?.trace_id
  }

  #goesOn(call: Call, run: OpenRun): boolean {
    // what lies as far ahead is of before the clock was set back
    const isDeferred = Math.abs(call.at - run.active_at) >= this.#idle_ms
    if (run.size >= MAX_SPANS) run.isFull = true
    return isOfProject(call, run) && !run.isFull && !isDeferred
  }

  #begin(call: Call, trace_id: string): OpenRun {
    const about = {
      trace_id,
      ...(namesProject(call) ? { project_id: call.project_id } : {}),
      session_id: call.session?.row.id ?? null,
      agent_id: call.agent_id,
    }
    const run = new OpenRun(newRow(about, originOf(call), BigInt(call.at) * NS_PER_MS), false)
    this.#runWriter.runs.add(run)
    return run
  }
}

/** The caller, or who set its agent up, has said what the project is. */
const namesProject = ({ project_id, headers }: Call): boolean =>
  project_id !== 'default' || headers['x-guard-project-id'] !== undefined

/** A request whose project nobody named goes with any. */
const isOfProject = (call: Call, { row }: OpenRun): boolean => row.project_id === call.project_id || !namesProject(call)

const place = (call: Call, run: OpenRun, parent_span_id: string | null): void => {
  run.joined_at = Math.max(run.joined_at, call.at)
  const placed: Placed = { trace_id: run.row.trace_id, span_id: newSpanId(), parent_span_id, run, isDeferred: false }
  call.trace = placed
}

/** Calls of the Playground are told apart by the upstream that plays them. */
const originOf = ({ upstream }: Call): 'gateway' | 'playground' =>
  upstream === 'playground' ? 'playground' : 'gateway'
