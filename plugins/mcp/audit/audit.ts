import { type Change, type Gateway, GuardError } from 'guard-gateway/core'
import { RecordNotices } from './audit-records.ts'
import { BatchedCalls } from './batched-calls.ts'
import type { AuditSession } from './entry.ts'
import { type AuditEvent, eventRow } from './event-row.ts'
import { recordsOf } from './records.ts'
import { type RunUpdate, RunWriter } from './run-writer.ts'
import { SessionLog } from './session-log.ts'
import type { AuditRow } from './tables.ts'

/** Records all MCP traffic of this process: decisions, events, and their spans in Replay. */
export class Audit {
  /** Forwarded calls, whose records are written in batches. */
  readonly batched: BatchedCalls
  /** Calls of processes that have ended. */
  readonly unfinished: UnfinishedCalls
  /** For those who pass records on. */
  readonly records: RecordNotices
  readonly #gateway: Gateway
  readonly #writers = new Map<string, RunWriter>()
  readonly #writing = new Set<Promise<unknown>>()
  readonly #known = new Set<string>()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    this.records = new RecordNotices(gateway)
    this.batched = new BatchedCalls(gateway, (update, urgent) => this.write(update, urgent), this.records.tell)
    this.unfinished = new UnfinishedCalls(gateway, (update, urgent) => this.write(update, urgent))
  }

  /** The storage is open: from now on every reader sees the ends of calls, and unfinished calls are looked for. */
  begin(): void {
    this.batched.begin()
    this.unfinished.begin()
  }

  /** The records of one session. */
  session(about: AuditSession): SessionLog {
    return new SessionLog(this.#gateway, this, about)
  }

  /** Writes an update to its run; updates of one run are written in order. */
  write(update: RunUpdate, urgent: boolean): Promise<void> {
    const { trace_id } = update.run
    let writer = this.#writers.get(trace_id)
    if (writer === undefined) {
      const made = new RunWriter(this.#gateway, () => this.#writers.delete(trace_id))
      this.#writers.set(trace_id, made)
      writer = made
    }
    return writer.add(update, urgent).then(() => this.records.written(update.rows))
  }

  /** Records an event that belongs to no session, without waiting for the write. */
  event(event: AuditEvent): void {
    this.put([{ table: 'mcp_audit', put: eventRow(event, this.#gateway.clock.now()) }])
  }

  /** Keeps the text of a policy that comes into force, once for each version. */
  policyLoaded(version: string, text: string): void {
    if (this.#known.has(version)) return
    this.#known.add(version)
    const loaded_at = this.#gateway.clock.now()
    this.#follow(
      this.#gateway.storage.put('mcp_policies', { version, text, loaded_at }, 'absent').catch((error: unknown) => {
        this.#known.delete(version)
        throw error
      }),
    )
  }

  /** Writes rows that belong to no run, without waiting for the write. */
  put(rows: readonly Change[]): void {
    this.#follow(this.#gateway.storage.write(rows).then(() => this.records.written(rows)))
  }

  /** Stops; resolves when everything is written. */
  end(): Promise<void> {
    this.unfinished.end()
    return this.flush()
  }

  /** Resolves when everything so far is written. */
  async flush(): Promise<void> {
    await this.batched.flush()
    for (const writer of [...this.#writers.values()]) await writer.flush()
    await Promise.allSettled([...this.#writing])
  }

  #follow(writing: Promise<unknown>): void {
    const followed = writing
      .catch((error: unknown) => this.#gateway.fault(error, 'mcp:audit'))
      .finally(() => this.#writing.delete(followed))
    this.#writing.add(followed)
  }
}

/** Interval of the check, and the least age of calls that it examines: a living process has added such calls to their runs. */
const INTERVAL_MS = 60_000
/** Older calls are not examined: their run may be removed. */
const MAX_AGE_MS = 86_400_000
const MAX_ROWS = 1_000
const MESSAGE = 'the proxy stopped before the call ended'

/** Ends calls on record whose process, this or another one, ended before it recorded their outcome. Their outcome is `lost`, and their runs show them. */
class UnfinishedCalls {
  readonly #gateway: Gateway
  readonly #keep: (update: RunUpdate, urgent: boolean) => Promise<void>
  /** Calls that still ran at the last check. */
  #open: readonly string[] = []
  /** Calls that started before this time have been checked; milliseconds since 1970. */
  #checkedUntil: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, keep: (update: RunUpdate, urgent: boolean) => Promise<void>) {
    this.#gateway = gateway
    this.#keep = keep
  }

  begin(): void {
    this.#timer ??= setInterval(() => {
      this.check().catch((error: unknown) => this.#gateway.fault(error, 'mcp:left'))
    }, INTERVAL_MS).unref()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Checks calls without an outcome once. */
  async check(): Promise<void> {
    const until = this.#gateway.clock.now() - INTERVAL_MS
    const candidates = [...(await this.#stillOpen()), ...(await this.#startedSince(until))]
    this.#checkedUntil = until
    const open: string[] = []
    for (const row of candidates) if (await this.#isStillOpen(row)) open.push(row.id)
    this.#open = open.slice(-MAX_ROWS)
  }

  async #stillOpen(): Promise<readonly AuditRow[]> {
    if (this.#open.length === 0) return []
    const where = { id: { in: this.#open }, outcome: null }
    return (await this.#gateway.storage.find('mcp_audit', { where, limit: MAX_ROWS })).rows
  }

  async #startedSince(until: number): Promise<readonly AuditRow[]> {
    const at = { gte: this.#checkedUntil ?? until - MAX_AGE_MS, lt: until }
    const where = { kind: 'decision', outcome: null, at } as const
    return (await this.#gateway.storage.find('mcp_audit', { where, order: ['at', 'desc'], limit: MAX_ROWS })).rows
  }

  /** Whether the call still runs. If not, it has ended now at the latest. */
  async #isStillOpen(row: AuditRow): Promise<boolean> {
    const { trace_id, span_id } = row
    if (trace_id === null || span_id === null) return false
    const span = await this.#gateway.storage.get('spans', [trace_id, span_id])
    if (span === undefined) await this.#addToRun(row, trace_id)
    else if (span.end_ns === null) return true
    else await this.#gateway.storage.write([lost(row)])
    return false
  }

  /** Adds a call to its run, which does not have it yet. */
  async #addToRun(row: AuditRow, trace_id: string): Promise<void> {
    const { span, event } = recordsOf({ ...row, outcome: 'lost' }, false)
    const { project_id, agent_id, server_id, parent_span_id } = row
    const update: RunUpdate = {
      origin: 'mcp',
      run: {
        trace_id,
        ...(project_id === null ? {} : { default_project_id: project_id }),
        ...(parent_span_id === null ? { agent_id, name: `mcp ${server_id}` } : {}),
      },
      spans: [{ ...span, status_message: MESSAGE }],
      events: [event],
      rows: [lost(row)],
      whole: true,
      conditional: true,
    }
    try {
      await this.#keep(update, true)
    } catch (error) {
      // another process was first
      if (!(error instanceof GuardError) || error.code !== 'STORAGE_BUSY') throw error
    }
  }
}

const lost = ({ id }: AuditRow) =>
  ({ table: 'mcp_audit', key: id, patch: { outcome: 'lost' }, expected: { outcome: null } }) as const
