import { setImmediate } from 'node:timers/promises'
import type { Gateway, TableName } from 'guard-gateway/core'
import { replayDefaults } from '#lib/config-defaults'
import type { Retention as Settings } from '../options.ts'
import type { RunRow } from '../tables.ts'
import { DAY_NS, NS_PER_MS, nowNs } from '../time.ts'
import type { RunWriter } from '../write/run-writer.ts'
import { type AuditReport, AuditRetention } from './audit-retention.ts'

const HOUR_NS = 3_600_000n * NS_PER_MS
/** Runs that one step removes, and rows that one statement removes. */
const BATCH = 100
const STEP_ROWS = 500
/** Runs are counted again after this time, since other processes write too. */
const RECOUNT_MS = 86_400_000

const RECORDS = ['spans', 'events', 'artifacts', 'calls'] as const satisfies readonly TableName[]

/** What the next pass would do. */
export interface RetentionReport {
  readonly settings: Required<Settings>
  readonly runs: number | null
  readonly bytes: number
  /** At most as many as one look counts; then `more` is true. */
  readonly would_remove: number
  readonly more: boolean
  /** Records of MCP decisions and approvals, which outlive their runs. */
  readonly audit: AuditReport
}

/** Removes the oldest runs, pinned ones apart, when they are too old, too many, or take too much room. */
export class Retention {
  readonly settings: Required<Settings>
  readonly #gateway: Gateway
  readonly #runWriter: RunWriter
  readonly #audit: AuditRetention
  #count: { runs: number; readonly at: number } | undefined
  #pass: Promise<number> | undefined
  #stopped = false

  constructor(gateway: Gateway, runWriter: RunWriter, settings: Settings = {}) {
    this.#gateway = gateway
    this.#runWriter = runWriter
    const { retention } = replayDefaults
    const { days = retention.days, max_runs = retention.max_runs, max_bytes = retention.max_bytes } = settings
    const { audit_days = retention.audit_days, max_audit_records = retention.max_audit_records } = settings
    this.settings = { days, max_runs, max_bytes, audit_days, max_audit_records }
    this.#audit = new AuditRetention(gateway, this.settings)
  }

  /** A run was stored for the first time. */
  added(): void {
    if (this.#count !== undefined) this.#count.runs++
  }

  /** Ends a pass under way after its current step; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#pass?.catch(() => {})
  }

  /** One pass; several at once are one. Resolves with how many runs were removed. */
  pass(): Promise<number> {
    this.#pass ??= this.#run().finally(() => {
      this.#pass = undefined
    })
    return this.#pass
  }

  async #run(): Promise<number> {
    let removed = 0
    let cursor: string | null = null
    while (!this.#stopped) {
      const page: { readonly rows: readonly RunRow[]; readonly next_cursor: string | null } = await this.#oldest(cursor)
      const excess = await this.#excess()
      const full = await this.#isFull()
      const expired = page.rows
        .filter((row) => !this.#isActive(row))
        .filter((row, at) => at < excess || full || this.#isOld(row))
      // a page of active runs must not protect the runs after it
      if (expired.length === 0 && excess === 0 && !full && !page.rows.some((row) => this.#isOld(row))) break
      if (expired.length > 0) await this.#remove(expired)
      removed += expired.length
      cursor = page.next_cursor
      if (cursor === null) break
      await setImmediate()
    }
    // after the runs: records of a stored run stay
    await this.#audit.pass(() => this.#stopped)
    return removed
  }

  #oldest(cursor: string | null) {
    return this.#gateway.storage.find('runs', {
      where: { pinned: false },
      order: ['recorded_ns', 'asc'],
      limit: BATCH,
      ...(cursor === null ? {} : { cursor }),
    })
  }

  #isOld({ recorded_ns }: RunRow): boolean {
    const { days } = this.settings
    return days !== null && recorded_ns < nowNs(this.#gateway.clock) - BigInt(days) * DAY_NS
  }

  /** The run is running or was written lately. A time as far in the future was written before the clock was set back. */
  #isActive({ status, updated_ns }: RunRow): boolean {
    const age_ns = nowNs(this.#gateway.clock) - updated_ns
    return (age_ns < 0n ? -age_ns : age_ns) < (status === 'running' ? DAY_NS : HOUR_NS)
  }

  async #isFull(): Promise<boolean> {
    const { max_bytes } = this.settings
    return max_bytes !== null && (await this.#gateway.storage.bytes()) > max_bytes
  }

  /** Number of runs above the limit. */
  async #excess(): Promise<number> {
    const { max_runs } = this.settings
    return max_runs === null ? 0 : Math.max(0, (await this.#counted()) - max_runs)
  }

  async #counted(): Promise<number> {
    const now = this.#gateway.clock.tick()
    if (this.#count !== undefined && now - this.#count.at < RECOUNT_MS) return this.#count.runs
    const count = { runs: 0, at: now }
    this.#count = count
    let cursor: string | null = null
    do {
      const page: { readonly rows: readonly RunRow[]; readonly next_cursor: string | null } =
        await this.#gateway.storage.find('runs', { limit: BATCH, ...(cursor === null ? {} : { cursor }) })
      count.runs += page.rows.length
      cursor = page.next_cursor
      await setImmediate()
    } while (cursor !== null && !this.#stopped)
    return count.runs
  }

  /** Removes records first: after a crash in between, the next pass removes the run. */
  #remove(rows: readonly RunRow[]): Promise<void> {
    const ids = rows.map(({ trace_id }) => trace_id)
    return this.#runWriter.exclusively(ids, async () => {
      await this.#gateway.hooks.forget.promise(ids)
      const where = { trace_id: { in: ids } }
      for (const table of RECORDS) {
        while ((await this.#gateway.storage.remove(table, where, STEP_ROWS)) === STEP_ROWS) await setImmediate()
      }
      await this.#gateway.storage.remove('runs', where, ids.length)
      for (const id of ids) this.#runWriter.runs.drop(id)
      if (this.#count !== undefined) this.#count.runs -= ids.length
    })
  }

  /** Settings, sizes, and what the next pass would remove. */
  async report(): Promise<RetentionReport> {
    const [page, bytes, excess, full, audit] = await Promise.all([
      this.#oldest(null),
      this.#gateway.storage.bytes(),
      this.#excess(),
      this.#isFull(),
      this.#audit.report(),
    ])
    const idle = page.rows.filter((row) => !this.#isActive(row))
    const expired = idle.filter((row, at) => at < excess || full || this.#isOld(row)).length
    // active runs may stand between those to remove
    const newest = page.rows.at(-1)
    const more =
      page.next_cursor !== null && (full || excess > expired || (newest !== undefined && this.#isOld(newest)))
    return { settings: this.settings, runs: this.#count?.runs ?? null, bytes, would_remove: expired, more, audit }
  }
}
