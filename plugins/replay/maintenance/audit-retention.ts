import { setImmediate } from 'node:timers/promises'
import type { Gateway, Storage } from 'guard-gateway/core'
import type { Retention as Settings } from '../options.ts'

const DAY_MS = 86_400_000
/** Rows per step, and steps per pass; the next pass continues at the cursor. */
const BATCH = 500
const STEPS = 40
/** Records are counted again after this time. */
const RECOUNT_MS = 3_600_000

/** What the next pass would remove of the audit. */
export interface AuditReport {
  readonly would_remove: number
  /** There may be more than one look counts. */
  readonly more: boolean
}

/** The position of a pass in each table. */
type Cursors = { mcp_audit: string | null; mcp_approvals: string | null }

/** Ids to remove, and the cursor after their page. */
interface Page {
  readonly ids: readonly string[]
  readonly next_cursor: string | null
}

/** Removes MCP audit records and ended approvals that are too old or too many. What belongs to a run that is still there stays with it. */
export class AuditRetention {
  readonly #gateway: Gateway
  readonly #days: number | null
  readonly #max: number | null
  #counted: { readonly at: number; readonly before: number } | undefined
  readonly #cursors: Cursors = { mcp_audit: null, mcp_approvals: null }

  constructor(
    gateway: Gateway,
    { audit_days, max_audit_records }: Pick<Required<Settings>, 'audit_days' | 'max_audit_records'>,
  ) {
    this.#gateway = gateway
    this.#days = audit_days
    this.#max = max_audit_records
  }

  /** One pass; resolves with how many rows were removed. `stopped` ends it after its current step. */
  async pass(stopped: () => boolean): Promise<number> {
    const { storage } = this.#gateway
    if (!storage.has('mcp_audit')) return 0
    const before = await this.#before(stopped)
    let removed = 0
    for (const table of ['mcp_audit', 'mcp_approvals'] as const) {
      for (let step = 0; step < STEPS && !stopped(); step++) {
        const page: Page = await this.#expired(table, before, this.#cursors[table])
        if (page.ids.length > 0) removed += await storage.remove(table, { id: { in: page.ids } }, page.ids.length)
        this.#cursors[table] = page.next_cursor
        if (page.next_cursor === null) break
        await setImmediate()
      }
    }
    return removed
  }

  /** What a pass that began now would remove first. */
  async report(): Promise<AuditReport> {
    if (!this.#gateway.storage.has('mcp_audit')) return { would_remove: 0, more: false }
    const before = await this.#before(() => false)
    const pages = await Promise.all(
      (['mcp_audit', 'mcp_approvals'] as const).map((table) => this.#expired(table, before, null)),
    )
    const would_remove = pages.reduce((sum, { ids }) => sum + ids.length, 0)
    return { would_remove, more: pages.some(({ next_cursor }) => next_cursor !== null) }
  }

  /** Older rows are removed; milliseconds since 1970. */
  async #before(stopped: () => boolean): Promise<number> {
    const oldest = this.#days === null ? 0 : this.#gateway.clock.now() - this.#days * DAY_MS
    if (this.#max === null) return oldest
    const now = this.#gateway.clock.tick()
    if (this.#counted === undefined || now - this.#counted.at >= RECOUNT_MS)
      this.#counted = { at: now, before: await this.#beforeCount(this.#max, oldest, stopped) }
    return Math.max(oldest, this.#counted.before)
  }

  /** The time of the oldest record within the newest `max`; 0 if there are fewer. */
  async #beforeCount(max: number, since: number, stopped: () => boolean): Promise<number> {
    let cursor: string | null = null
    let remaining = max
    do {
      const limit = Math.min(BATCH, remaining + 1)
      const page: { readonly rows: readonly { readonly at: number }[]; readonly next_cursor: string | null } =
        await this.#gateway.storage.find('mcp_audit', {
          where: { at: { gte: since } },
          order: ['at', 'desc'],
          limit,
          ...(cursor === null ? {} : { cursor }),
        })
      const oldest = page.rows[remaining - 1]
      if (oldest !== undefined && (page.rows.length > remaining || page.next_cursor !== null)) return oldest.at
      remaining -= page.rows.length
      cursor = page.next_cursor
      await setImmediate()
    } while (cursor !== null && remaining > 0 && !stopped())
    return 0
  }

  /** Rows of one page that are too old and belong to no stored run; a pinned run protects its records. */
  async #expired(table: keyof Cursors, before: number, cursor: string | null): Promise<Page> {
    const at = { limit: BATCH, ...(cursor === null ? {} : { cursor }) }
    const { rows, next_cursor } =
      table === 'mcp_audit'
        ? await this.#gateway.storage.find(table, { where: { at: { lt: before } }, order: ['at', 'asc'], ...at })
        : await this.#gateway.storage.find(table, {
            where: { status: { in: [...ENDED] }, expires_at: { lt: before } },
            ...at,
          })
    const stored = await storedRuns(this.#gateway.storage, rows)
    const ids = rows.filter(({ trace_id }) => trace_id === null || !stored.has(trace_id)).map(({ id }) => id)
    return { ids, next_cursor }
  }
}

const ENDED = ['consumed', 'expired'] as const

/** The stored runs that rows belong to. */
const storedRuns = async (
  storage: Storage,
  rows: readonly { readonly trace_id: string | null }[],
): Promise<ReadonlySet<string>> => {
  const ids = [...new Set(rows.flatMap(({ trace_id }) => (trace_id === null ? [] : [trace_id])))]
  if (ids.length === 0) return new Set()
  const { rows: runs } = await storage.find('runs', { where: { trace_id: { in: ids } }, limit: ids.length })
  return new Set(runs.map(({ trace_id }) => trace_id))
}
