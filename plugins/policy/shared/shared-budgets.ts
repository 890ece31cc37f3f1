import type { Change, Gateway, Per, Period, Row, Totals } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { requestsIn } from '#lib/session'
import type { Calendar } from '#lib/time'
import { removedUses, storedUses } from '../budgets/stored-uses.ts'
import { nextText } from '../budgets/window-use.ts'
import type { Spender } from '../evaluate/evidence-sources.ts'
import { addUsage, noUsage, type Usage } from '../history/usage.ts'
import type { Policy } from '../policy.ts'
import type { BudgetWindowRow } from './budget-windows.ts'

const MOST_WINDOWS = 10_000
const MOST_AGENTS = 1_000

export type WindowKey = readonly string[]

/** A row as this process last saw it. */
interface Known {
  readonly used: Usage
  version: number
  /** Another process has changed it, or may have. */
  stale: boolean
}

/** What agents and projects have used in the sections of the calendar that some budget is about, where several processes count: rows that change by compare-and-set. */
export class SharedBudgets {
  readonly calendar: Calendar
  readonly #gateway: Gateway
  readonly #known = new LRU<Known>(MOST_WINDOWS)

  constructor(gateway: Gateway, calendar: Calendar) {
    this.#gateway = gateway
    this.calendar = calendar
  }

  /** The rows that the rules of a policy are about, for a request. */
  keys({ active }: Pick<Policy, 'active'>, spender: Spender): readonly WindowKey[] {
    const keys = new Map<string, WindowKey>()
    for (const { period } of active) {
      if (period === undefined) continue
      const key = this.#key(period, spender)
      keys.set(nameOf(key), key)
    }
    return [...keys.values()].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  }

  /** Undefined if all rows are known; else they are being read. */
  ready(policy: Pick<Policy, 'active'>, spender: Spender): Promise<unknown> | undefined {
    const missing = this.keys(policy, spender).filter((key) => this.#known.get(nameOf(key))?.stale !== false)
    return missing.length === 0 ? undefined : Promise.all(missing.map((key) => this.#read(key)))
  }

  totals(period: Period, spender: Spender): Totals {
    return this.#totals(period, spender, this.#need(this.#key(period, spender)).used)
  }

  /** The same as it stands now, for a person: a look at it leaves nothing behind. */
  async current(period: Period, spender: Spender): Promise<Totals> {
    const key = this.#key(period, spender)
    const stored = await this.#stored(key)
    return this.#totals(period, spender, stored === undefined ? await this.#recorded(key) : usageOf(stored))
  }

  #totals({ scope, per }: Period, { at, agent_id }: Spender, used: Usage): Totals {
    const { end, next } = this.#window(per, at)
    const period = { scope, per, resets_at: end, next, named: agent_id !== null }
    return { ...used, outcomes: [], probe_open: false, period }
  }

  /** Agents of a project that have used something in the section that holds `at`. */
  async agents(per: Per, project_id: string, at: number): Promise<readonly (string | null)[]> {
    const where = { project_id, per, start: String(this.#window(per, at).start), scope: 'agent' as const }
    const { rows } = await this.#gateway.storage.find('budget_windows', { where, limit: MOST_AGENTS })
    return rows.map(({ agent_id }) => (agent_id === '' ? null : agent_id))
  }

  /** The changes that count a request that is forwarded; they fail if another process has counted meanwhile. */
  claim(keys: readonly WindowKey[], row: Row): readonly Change[] {
    return keys.map((key) => {
      const { version, used } = this.#need(key)
      const patch = {
        version: version + 1,
        requests: used.requests + requestsIn(row),
        reserved: used.reserved + row.reserved,
      }
      return { table: 'budget_windows', key, patch, expected: { version } }
    })
  }

  /** What `claim` gave is written. */
  claimed(keys: readonly WindowKey[], row: Row): void {
    for (const key of keys) {
      const known = this.#need(key)
      known.version++
      addUsage(known.used, { requests: requestsIn(row), reserved: row.reserved })
    }
  }

  /** The changes that count what a request has used. */
  settle(keys: readonly WindowKey[], used: Partial<Usage>): readonly Change[] {
    const { requests = 0, failed = 0, unpriced = 0, tokens = 0, cache_read_tokens = 0, cost_micro = 0 } = used
    const add = {
      version: 1,
      requests,
      failed,
      unpriced,
      tokens,
      cache_read_tokens,
      cost_micro,
      reserved: used.reserved ?? 0,
    }
    return keys.map((key) => ({ table: 'budget_windows', key, add }))
  }

  /** What `settle` gave is written. */
  settled(keys: readonly WindowKey[], used: Partial<Usage>): void {
    for (const key of keys) {
      const known = this.#known.get(nameOf(key))
      if (known === undefined) continue
      known.version++
      addUsage(known.used, used)
    }
  }

  /** Another process may have changed these rows. */
  stale(keys: readonly WindowKey[]): void {
    for (const key of keys) {
      const known = this.#known.get(nameOf(key))
      if (known !== undefined) known.stale = true
    }
  }

  #window(per: Per, at: number) {
    const window = this.calendar.windowAt(per, at)
    return { ...window, next: nextText(per, window, this.calendar) }
  }

  #key({ scope, per }: Period, { project_id, agent_id, at }: Spender): WindowKey {
    return [project_id, per, String(this.#window(per, at).start), scope, scope === 'agent' ? (agent_id ?? '') : '']
  }

  #need(key: WindowKey): Known {
    const known = this.#known.get(nameOf(key))
    if (known === undefined) throw new Error(`what was used in the ${key[1]} is not known yet`)
    return known
  }

  async #read(key: WindowKey): Promise<void> {
    const row = (await this.#stored(key)) ?? (await this.#complete(key))
    this.#known.set(nameOf(key), { used: usageOf(row), version: row.version ?? 0, stale: false })
  }

  /** The row, once it counts all that was recorded before it was made; until then only what is on record counts. */
  async #stored(key: WindowKey): Promise<BudgetWindowRow | undefined> {
    const stored = await this.#gateway.storage.get('budget_windows', key)
    return stored?.complete === true ? stored : undefined
  }

  /** Counts what was recorded before the row was made. While the row is locked nobody adds to it. */
  async #complete(key: WindowKey): Promise<BudgetWindowRow> {
    const { storage } = this.#gateway
    // the row exists from here on, so that its lock holds those who add
    await storage.write([{ table: 'budget_windows', key, add: { version: 1 } }])
    return storage.exclusive('budget_windows', key, async (read) => {
      const row = await read.get('budget_windows', key)
      if (row?.complete === true) return [row, []]
      const used = await this.#recorded(key)
      const [project_id = '', per, start = '', scope, agent_id = ''] = key as readonly [
        string,
        Per,
        string,
        Period['scope'],
        string,
      ]
      const complete: BudgetWindowRow = {
        ...{ project_id, per, start, scope, agent_id },
        version: (row?.version ?? 0) + 1,
        complete: true,
        ...used,
      }
      return [complete, [{ table: 'budget_windows', put: complete }]]
    })
  }

  async #recorded([project_id, per, start, scope, agent_id]: WindowKey): Promise<Usage> {
    const { storage, tables } = this.#gateway
    const used = noUsage()
    if (tables.get('calls') === undefined) return used
    const window = this.calendar.windowAt(per as Per, Number(start))
    const stored = [...(await storedUses(storage, window)), ...(await removedUses(storage, window))]
    for (const one of stored)
      if (one.project_id === project_id && (scope === 'project' || (one.agent_id ?? '') === agent_id))
        addUsage(used, one.used)
    return used
  }
}

const nameOf = (key: WindowKey): string => key.join('\0')

const usageOf = (row: BudgetWindowRow): Usage => ({
  requests: row.requests ?? 0,
  failed: row.failed ?? 0,
  unpriced: row.unpriced ?? 0,
  tokens: row.tokens ?? 0,
  cache_read_tokens: row.cache_read_tokens ?? 0,
  cost_micro: row.cost_micro ?? 0,
  reserved: Math.max(0, row.reserved ?? 0),
})
