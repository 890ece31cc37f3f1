import { type Change, type Gateway, GuardError, type Origin, type SpanDraft } from 'guard-gateway/core'
import { derivedId, newId } from '#lib/ids'
import { cutText } from '#lib/text'
import { joinsProject, newSpanId, newTraceId, readTraceparent } from '#lib/trace'
import type { RecordedFinding } from '../results/recorded-finding.ts'
import type { BatchedCalls } from './batched-calls.ts'
import { type AuditSession, BatchedCall, type End, type Entry } from './entry.ts'
import type { Outcome } from './enums.ts'
import { type AuditEvent, eventRow } from './event-row.ts'
import type { CallFacts, Judgement } from './judgement.ts'
import { decisionRow, endOf, recordsOf, runOf, type SessionLabels } from './records.ts'
import type { RunUpdate } from './run-writer.ts'

/** Calls of a session in one run; then the session continues in a new run. */
const MAX_CALLS = 2_000

/** What commits with a decision when an approval takes part in it. */
export interface ApprovalPart {
  readonly approval_id: string
  /** Changes of the approval, each under its condition. */
  readonly changes: readonly Change[]
  readonly spans: readonly SpanDraft[]
}

/** What writes the records of all sessions. */
interface RecordWriter {
  readonly batched: Pick<BatchedCalls, 'add' | 'end'>
  /** Writes an update to its run. */
  write(update: RunUpdate, urgent: boolean): Promise<void>
  /** Writes rows that belong to no run, without waiting for the write. */
  put(rows: readonly Change[]): void
}

/** The records of one MCP session, in their order. */
export class SessionLog {
  readonly #gateway: Gateway
  readonly #writer: RecordWriter
  #labels: SessionLabels
  #seq = 0
  #trace_id: string | undefined
  #calls = 0
  /** The run that the last call named, if calls may join it. */
  #joinable: string | undefined

  constructor(gateway: Gateway, writer: RecordWriter, about: AuditSession) {
    const { external_session_id, project_id } = about
    this.#gateway = gateway
    this.#writer = writer
    this.#labels = {
      ...about,
      protocol_version: null,
      guard_session_id: external_session_id === null ? null : derivedId('ses_', project_id, external_session_id),
    }
  }

  /** Client and server agreed on a version of the protocol. */
  negotiated(protocol_version: string): void {
    this.#labels = { ...this.#labels, protocol_version: cutText(protocol_version, 32) }
  }

  /** Makes the entry of a call: the ids of its record, run and span. `traceparent` is the caller's, in the form of the header. */
  begin(traceparent?: string): Entry | Promise<Entry> {
    const at = this.#gateway.clock.now()
    const tick = this.#gateway.clock.tick()
    const named = readTraceparent(traceparent)
    if (named === undefined) return this.#entry(at, tick, undefined, false)
    return this.#joins(named.trace_id).then((joined) => this.#entry(at, tick, named, joined))
  }

  #entry(at: number, tick: number, named: ReturnType<typeof readTraceparent>, joins: boolean): Entry {
    const joined = joins && named !== undefined
    return {
      id: newId('aud_', at),
      at,
      tick,
      seq: ++this.#seq,
      trace_id: joined ? named.trace_id : this.#run(at),
      span_id: newSpanId(),
      parent_span_id: joined ? named.span_id : null,
      joined,
      join_refused: named !== undefined && !joined,
    }
  }

  /**
   * Records a decision, with what it changes of an approval; true when all of it is durable, so that the call may continue.
   * False: the approval has changed meanwhile, and nothing was written. Rejects if storage cannot be written: the call must not be forwarded.
   */
  async judged(entry: Entry, facts: CallFacts, judgement: Judgement, approval?: ApprovalPart): Promise<boolean> {
    const duration_ms = this.#since(entry)
    const row = decisionRow(entry, this.#labels, facts, judgement, {
      approval_id: approval?.approval_id ?? null,
      duration_ms,
    })
    const changes = approval?.changes ?? []
    const conditional = changes.length > 0
    const { span, event } = recordsOf(row, entry.join_refused)
    if (judgement.forwarded) entry.running = row
    const update = {
      origin: this.#origin,
      run: runOf(entry, this.#labels),
      spans: [span, ...(approval?.spans ?? [])],
      events: [event],
      rows: [{ table: 'mcp_audit', put: row } as const, ...changes],
      whole: true,
      conditional,
    }
    try {
      await this.#writer.write(update, true)
      return true
    } catch (error) {
      entry.running = undefined
      if (conditional && error instanceof GuardError && error.code === 'STORAGE_BUSY') return false
      throw error
    }
  }

  /**
   * Records the decision about a call that is forwarded, in one write with others of its turn; resolves when it is durable, so that the call
   * may continue. Rejects if it cannot be written, at once with STORAGE_FULL and STORAGE_UNAVAILABLE while nothing can be.
   */
  async pass(entry: Entry, facts: CallFacts, judgement: Judgement): Promise<void> {
    const { state } = this.#gateway.storage
    if (state === 'full') throw new GuardError('STORAGE_FULL')
    if (state === 'failing') throw new GuardError('STORAGE_UNAVAILABLE')
    const row = decisionRow(entry, this.#labels, facts, judgement, { approval_id: null, duration_ms: 0 })
    const call = new BatchedCall(this.#origin, runOf(entry, this.#labels), row)
    await this.#writer.batched.add(call)
    entry.batched = call
  }

  /** Records the end of a forwarded call. Resolves when the call may be answered; undefined: at once. */
  ended(
    entry: Entry,
    outcome: Outcome,
    result_bytes: number | null = null,
    findings: readonly RecordedFinding[] = [],
  ): Promise<void> | undefined {
    const call = entry.batched
    if (call === undefined) {
      void this.outcome(entry, outcome, result_bytes, findings)
      return undefined
    }
    entry.batched = undefined
    return this.#writer.batched.end(call, endOf(outcome, this.#since(entry), result_bytes, findings))
  }

  /** Records the end of a call whose decision is durable with the next batch; resolves when it is written. A write that fails is a fault. A call without a record has no end. */
  async outcome(
    entry: Entry,
    outcome: Outcome,
    result_bytes: number | null = null,
    findings: readonly RecordedFinding[] = [],
  ): Promise<void> {
    const row = entry.running
    // a call that could not be recorded has no record to end
    if (row === undefined) return
    entry.running = undefined
    const patch: End = endOf(outcome, this.#since(entry), result_bytes, findings)
    const update = {
      origin: this.#origin,
      run: { trace_id: entry.trace_id },
      spans: [recordsOf({ ...row, ...patch }, false).span],
      events: [],
      rows: [{ table: 'mcp_audit', key: entry.id, patch } as const],
      whole: true,
      conditional: false,
    }
    try {
      await this.#writer.write(update, false)
    } catch (error) {
      this.#gateway.fault(error, 'mcp:outcome')
    }
  }

  /** Records a refused frame or an event of the session, without waiting for the write. */
  event(event: AuditEvent): void {
    const { id: session_id, server_id, project_id, agent_id, transport, protocol_version } = this.#labels
    const labels = { seq: ++this.#seq, session_id, server_id, project_id, agent_id, transport, protocol_version }
    this.#writer.put([{ table: 'mcp_audit', put: eventRow(event, this.#gateway.clock.now(), labels) }])
  }

  get #origin(): Origin {
    return this.#labels.origin ?? 'mcp'
  }

  #since({ tick }: Entry): number {
    return Math.max(0, this.#gateway.clock.tick() - tick)
  }

  /** The session's run. */
  #run(at: number): string {
    if (this.#trace_id === undefined || this.#calls >= MAX_CALLS) {
      this.#trace_id = newTraceId(at)
      this.#calls = 0
    }
    this.#calls++
    return this.#trace_id
  }

  /** Whether calls of this session may be in a run: not in one of another project. */
  async #joins(trace_id: string): Promise<boolean> {
    if (this.#joinable === trace_id) return true
    const run = await this.#gateway.storage.get('runs', trace_id)
    if (run !== undefined && !joinsProject(run, this.#labels.project_id)) return false
    this.#joinable = trace_id
    return true
  }
}
