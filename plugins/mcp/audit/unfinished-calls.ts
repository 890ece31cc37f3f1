import { type Gateway, GuardError } from 'guard-gateway/core'
import { recordsOf } from './records.ts'
import type { RunUpdate } from './run-writer.ts'
import type { AuditRow } from './tables.ts'

/** Interval of the check, and the least age of calls that it examines: a living process has added such calls to their runs. */
const INTERVAL_MS = 60_000
/** Older calls are not examined: their run may be removed. */
const MAX_AGE_MS = 86_400_000
const MAX_ROWS = 1_000
const MESSAGE = 'the proxy stopped before the call ended'

/** Ends calls on record whose process, this or another one, ended before it recorded their outcome. Their outcome is `lost`, and their runs show them. */
export class UnfinishedCalls {
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
