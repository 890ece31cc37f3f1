import { type Gateway, GuardError } from 'guard-gateway/core'
import { recordsOf } from './records.ts'
import type { RunUpdate } from './run-writer.ts'
import type { AuditRow } from './tables.ts'

/** So often is looked, at calls that are as old as that: a process that lives has told their runs of them long before. */
const EVERY_MS = 60_000
/** What has been left for longer may belong to a run that was removed since. */
const FURTHEST_MS = 86_400_000
const MAX_ROWS = 1_000
const MESSAGE = 'the proxy stopped before the call ended'

/** Ends calls on record whose process has gone before it could, whichever that was: their outcome is `lost`, and their runs know of them. */
export class UnfinishedCalls {
  readonly #gateway: Gateway
  readonly #keep: (update: RunUpdate, urgent: boolean) => Promise<void>
  /** Calls that went on when they were looked at last. */
  #open: readonly string[] = []
  /** Calls that began before are looked at already. */
  #since: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, keep: (update: RunUpdate, urgent: boolean) => Promise<void>) {
    this.#gateway = gateway
    this.#keep = keep
  }

  begin(): void {
    this.#timer ??= setInterval(() => {
      this.check().catch((error: unknown) => this.#gateway.fault(error, 'mcp:left'))
    }, EVERY_MS).unref()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Looks at calls without an outcome once. */
  async check(): Promise<void> {
    const until = this.#gateway.clock.now() - EVERY_MS
    const seen = [...(await this.#goingOn()), ...(await this.#begun(until))]
    this.#since = until
    const open: string[] = []
    for (const row of seen) if (await this.#goesOn(row)) open.push(row.id)
    this.#open = open.slice(-MAX_ROWS)
  }

  async #goingOn(): Promise<readonly AuditRow[]> {
    if (this.#open.length === 0) return []
    const where = { id: { in: this.#open }, outcome: null }
    return (await this.#gateway.storage.find('mcp_audit', { where, limit: MAX_ROWS })).rows
  }

  async #begun(until: number): Promise<readonly AuditRow[]> {
    const at = { gte: this.#since ?? until - FURTHEST_MS, lt: until }
    const where = { kind: 'decision', outcome: null, at } as const
    return (await this.#gateway.storage.find('mcp_audit', { where, order: ['at', 'desc'], limit: MAX_ROWS })).rows
  }

  /** False: it has ended, at the latest by this. */
  async #goesOn(row: AuditRow): Promise<boolean> {
    const { trace_id, span_id } = row
    if (trace_id === null || span_id === null) return false
    const span = await this.#gateway.storage.get('spans', [trace_id, span_id])
    if (span === undefined) await this.#tell(row, trace_id)
    else if (span.end_ns === null) return true
    else await this.#gateway.storage.write([lost(row)])
    return false
  }

  /** Tells the run of a call that it has never heard of. */
  async #tell(row: AuditRow, trace_id: string): Promise<void> {
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
      // somebody else was first
      if (!(error instanceof GuardError) || error.code !== 'STORAGE_BUSY') throw error
    }
  }
}

const lost = ({ id }: AuditRow) =>
  ({ table: 'mcp_audit', key: id, patch: { outcome: 'lost' }, expected: { outcome: null } }) as const
