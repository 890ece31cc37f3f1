import type { Call, CallTrace, Gateway, Recording } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { isProjectReplaceable, newSpanId, newTraceId, readTraceparent } from '#lib/trace'
import { NS_PER_MS, nowNs } from '../time.ts'
import { OpenRun } from '../write/open-run.ts'
import { callChange, runChange } from '../write/run-change.ts'
import { isGuarded, labelsWith, newRow, originOf, withProject } from '../write/run-row.ts'
import type { RunWriter } from '../write/run-writer.ts'
import { type SummedCall, summedCall } from '../write/summed-span.ts'

/** Maximum spans of a run. The session then continues in a new run. */
const MAX_SPANS = 5_000
const MAX_SESSIONS = 10_000
/** Newest runs of a session that are candidates to continue. */
const RECENT_RUNS = 5

/** The trace of a call, and its run. */
interface Placed extends CallTrace {
  /** The run that the call joined. */
  run?: OpenRun
  /** The row of its run is written later, so that a retry of the batch does not add the call twice. */
  isDeferred?: boolean
}

/** Assigns each model request to a run: the run in its `traceparent`, else the current run of its session, else a new run. */
export class Automatic {
  readonly #gateway: Gateway
  readonly #runWriter: RunWriter
  readonly #idle_ms: number
  /** The current run of each session. */
  readonly #sessions = new LRU<string>(MAX_SESSIONS)
  readonly #isWatched: () => boolean

  /** `isWatched`: someone subscribes to all changes of runs. */
  constructor(gateway: Gateway, runWriter: RunWriter, idle_ms: number, isWatched: () => boolean) {
    this.#gateway = gateway
    this.#runWriter = runWriter
    this.#idle_ms = idle_ms
    this.#isWatched = isWatched
  }

  /** Sets the trace of a call. Undefined if no wait is needed. An error costs the call only its trace. */
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
    // another request of the session can have begun a run meanwhile; there is no await after this line
    const run = this.#remembered(call, id) ?? recent ?? this.#begin(call, newTraceId(call.at))
    place(call, run, null)
    this.#sessions.set(id, run.row.trace_id)
  }

  /** Adds a settled call to its run, and the change of the run to the batch. Undefined if no wait is needed. */
  record(recording: Recording): Promise<void> | undefined {
    const { call } = recording.settled
    const trace: Placed | undefined = call.trace
    if (trace === undefined || trace.isDeferred === true) return undefined
    const { runs } = this.#runWriter
    if (recording.attempt > 0 && trace.run?.isOpen === true) runs.drop(trace.trace_id)
    const known = trace.run?.isOpen === true ? trace.run : runs.peek(trace.trace_id)
    if (known === undefined)
      return runs.get(trace.trace_id).then((read) => {
        // another call of the run can have waited for the same load and begun a new run
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

  /** Fills in the missing project, session and agent of the run. True if one changed. */
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
    // else its deferred records would keep the run in memory
    if (run.deferredRecords.length === 0) this.#runWriter.deferred.delete(run)
    const now_ns = nowNs(this.#gateway.clock)
    batch.push(isLabelled ? runChange(run, true, now_ns) : callChange(run, hasNewWords, now_ns))
    this.#runWriter.written(run.row)
  }

  #defer(call: SummedCall, trace: Placed, run: OpenRun): void {
    run.deferredRecords.push(call)
    trace.isDeferred = true
    this.#runWriter.deferred.add(run)
  }

  /** The run of the caller's trace. Undefined if it belongs to another project. */
  async #named(call: Call, trace_id: string): Promise<OpenRun | undefined> {
    const { runs } = this.#runWriter
    const found = runs.peek(trace_id) ?? (await runs.get(trace_id))
    const run = found ?? runs.peek(trace_id) ?? this.#begin(call, trace_id)
    return isOfProject(call, run) || isProjectReplaceable(run.row) ? run : undefined
  }

  #remembered(call: Call, session_id: string): OpenRun | undefined {
    const trace_id = this.#sessions.get(session_id)
    const run = trace_id === undefined ? undefined : this.#runWriter.runs.peek(trace_id)
    return run !== undefined && this.#canContinue(call, run) ? run : undefined
  }

  /** The newest run of a session that is not in the cache: one from an earlier process, or an evicted one. */
  async #recent(call: Call, session_id: string): Promise<OpenRun | undefined> {
    const { stored, open = 0 } = call.session ?? {}
    if (stored !== true && open <= 1) return undefined
    const trace_id = this.#sessions.get(session_id) ?? (await this.#newest(session_id))
    const run = trace_id === undefined ? undefined : await this.#runWriter.runs.get(trace_id)
    return run !== undefined && this.#canContinue(call, run) ? run : undefined
  }

  async #newest(session_id: string): Promise<string | undefined> {
    const { rows } = await this.#gateway.storage.find('runs', { where: { session_id }, limit: RECENT_RUNS })
    return rows.find((found) => isGuarded(found) && found.origin !== 'mcp')?.trace_id
  }

  #canContinue(call: Call, run: OpenRun): boolean {
    // a run that is as far in the future was active before the clock was set back
    const isIdle = Math.abs(call.at - run.active_at) >= this.#idle_ms
    if (run.size >= MAX_SPANS) run.isFull = true
    return isOfProject(call, run) && !run.isFull && !isIdle
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

/** True if the caller, or the setup of its agent, names the project. */
const namesProject = ({ project_id, headers }: Call): boolean =>
  project_id !== 'default' || headers['x-guard-project-id'] !== undefined

/** A request without a named project matches every run. */
const isOfProject = (call: Call, { row }: OpenRun): boolean => row.project_id === call.project_id || !namesProject(call)

const place = (call: Call, run: OpenRun, parent_span_id: string | null): void => {
  run.joined_at = Math.max(run.joined_at, call.at)
  const placed: Placed = { trace_id: run.row.trace_id, span_id: newSpanId(), parent_span_id, run, isDeferred: false }
  call.trace = placed
}
