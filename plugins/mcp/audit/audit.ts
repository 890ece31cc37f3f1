import type { Change, Gateway } from 'guard-gateway/core'
import { RecordNotices } from './audit-records.ts'
import { BatchedCalls } from './batched-calls.ts'
import type { AuditSession } from './entry.ts'
import { type AuditEvent, eventRow } from './event-row.ts'
import { type RunUpdate, RunWriter } from './run-writer.ts'
import { SessionLog } from './session-log.ts'
import { UnfinishedCalls } from './unfinished-calls.ts'

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
