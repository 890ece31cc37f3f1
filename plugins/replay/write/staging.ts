import { type Change, type Fragment, type Gateway, GuardError, type SpanDraft } from 'guard-gateway/core'
import { hasExited, writer } from '#lib/ids'
import { Pace, paced } from '#lib/time-slice'
import type { StagedRow } from '../tables.ts'
import { DAY_NS, nowNs } from '../time.ts'
import { OpenRun } from './open-run.ts'
import { type Prepared, prepare } from './prepare.ts'
import { runChange } from './run-change.ts'
import { isRoot, newRow, rowWith } from './run-row.ts'

/** Rows removed per statement. */
const REMOVED = 500
const PAGE = 500

/** A run whose records are stored and whose row is not, so that no reader sees it. */
interface Staged {
  readonly run: OpenRun
  readonly now_ns: bigint
  spans: number
  events: number
  /** Candidates for its root; two are enough to know that there is none. */
  readonly roots: SpanDraft[]
}

/**
 * Stages runs that are too large for one batch: records first, in pages, then the rows of all runs in one batch. Their ids are claimed
 * in storage meanwhile: no other process begins a run of the same id, and records of a crashed import are found.
 */
export class Staging {
  readonly #gateway: Gateway
  readonly #staged = new Map<string, Staged>()
  /** Claims that this process holds. */
  readonly #claims = new Set<string>()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Claims the ids of new runs. Throws STORAGE_BUSY if another writer was first. */
  async claim(ids: readonly string[]): Promise<void> {
    const { clock, storage } = this.#gateway
    const claimed_ns = nowNs(clock)
    for (const id of ids) this.#claims.add(id)
    const free = await storage.write(
      ids.map((trace_id) => ({ table: 'staged_runs', put: { trace_id, writer, claimed_ns }, when: 'absent' })),
    )
    if (!free) {
      for (const id of ids) this.#claims.delete(id)
      throw new GuardError('STORAGE_BUSY', 'A run of the file is being imported already. Try again when that is done.')
    }
    for (const id of ids)
      if ((await storage.get('runs', id)) !== undefined)
        throw new GuardError('STORAGE_BUSY', `Run "${id}" was begun while it was to be imported. Try again.`)
  }

  /** Stores records of claimed runs. Throws STORAGE_BUSY, and errors of a record. */
  async keep(fragments: readonly Fragment[]): Promise<void> {
    const changes: Change[] = []
    const pace = new Pace()
    for (const fragment of fragments) {
      changes.push(...(await this.#stage(fragment)))
      // none of thousands of small runs is large enough to yield by itself
      if (pace.due) await pace.rest()
    }
    if (!(await this.#gateway.storage.write(changes)))
      throw new GuardError('STORAGE_BUSY', 'Records of the file are in storage already. Try again.')
  }

  async #stage(fragment: Fragment): Promise<readonly Change[]> {
    const staged = this.#stagedRun(fragment)
    const { run, now_ns } = staged
    const prepared = await prepare(fragment, undefined, this.#gateway.storage, now_ns, staged)
    staged.spans += fragment.spans.length
    staged.events += fragment.events.length
    for (const span of fragment.spans) if (isRoot(span) && staged.roots.length < 2) staged.roots.push(span)
    await paced(addRecords(prepared, run), new Pace())
    return recordChanges(prepared, { when: 'absent' })
  }

  #stagedRun(fragment: Fragment): Staged {
    const { run, origin } = fragment
    const known = this.#staged.get(run.trace_id)
    if (known !== undefined) return known
    const now_ns = nowNs(this.#gateway.clock)
    const row = rowWith(newRow(run, origin, now_ns), { ...fragment, spans: [] }, isUnknown)
    const staged: Staged = { run: new OpenRun(row, false), now_ns, spans: 0, events: 0, roots: [] }
    this.#staged.set(run.trace_id, staged)
    return staged
  }

  /** The run of a last fragment, and the changes that publish it. */
  last(fragment: Fragment): { readonly run: OpenRun; readonly changes: readonly Change[] } {
    const { run, roots } = this.#stagedRun(fragment)
    const { trace_id, content_digest = null } = fragment.run
    const row = rowWith(run.row, { ...fragment, run: { trace_id }, spans: roots }, isUnknown)
    run.describe({ ...row, content_digest }, false)
    const now_ns = nowNs(this.#gateway.clock)
    return { run, changes: [runChange(run, true, now_ns), unclaimed(trace_id)] }
  }

  /** Forgets runs whose rows are stored. */
  published(ids: readonly string[]): void {
    for (const id of ids) {
      this.#staged.delete(id)
      this.#claims.delete(id)
    }
  }

  /** Removes stored records of claimed runs; a later sweep removes the rest. */
  async abandon(ids: readonly string[]): Promise<void> {
    const mine = ids.filter((id) => this.#claims.has(id))
    this.published(mine)
    try {
      for (let at = 0; at < mine.length; at += PAGE) await this.#remove(mine.slice(at, at + PAGE))
    } catch (error) {
      this.#gateway.fault(error, 'replay:staging')
    }
  }

  /** Removes staged runs of processes that have exited. Returns their number. */
  async sweep(): Promise<number> {
    const oldest = nowNs(this.#gateway.clock) - DAY_NS
    let swept = 0
    let cursor: string | null = null
    do {
      const page: { readonly rows: readonly StagedRow[]; readonly next_cursor: string | null } =
        await this.#gateway.storage.find('staged_runs', { limit: PAGE, ...(cursor === null ? {} : { cursor }) })
      const left: StagedRow[] = []
      for (const row of page.rows) if (await this.#isLeft(row, oldest)) left.push(row)
      await this.#remove(left.map(({ trace_id }) => trace_id))
      swept += left.length
      cursor = page.next_cursor
    } while (cursor !== null)
    return swept
  }

  async #isLeft({ writer: other, trace_id, claimed_ns }: StagedRow, oldest: bigint): Promise<boolean> {
    if (other === writer) return !this.#claims.has(trace_id)
    return claimed_ns < oldest || hasStopped(this.#gateway, other)
  }

  async #remove(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    const { storage } = this.#gateway
    const { rows } = await storage.find('runs', { where: { trace_id: { in: ids } }, limit: ids.length })
    const runs = new Set(rows.map(({ trace_id }) => trace_id))
    const where = { trace_id: { in: ids.filter((id) => !runs.has(id)) } }
    for (const table of ['spans', 'events', 'artifacts'] as const)
      while ((await storage.remove(table, where, REMOVED)) > 0);
    await storage.write(ids.map(unclaimed))
  }
}

const isUnknown = (): boolean => false

const unclaimed = (trace_id: string): Change => ({ table: 'staged_runs', key: trace_id, remove: true })

/** Changes before the first row of a run; they fail if an import has claimed its id. */
export const unlessClaimed = (trace_id: string, now_ns: bigint): readonly Change[] => [
  { table: 'staged_runs', put: { trace_id, writer, claimed_ns: now_ns }, when: 'absent' },
  unclaimed(trace_id),
]

/** Whether a process that wrote records has stopped. Where several hosts share the storage, process ids say nothing: those know of one another that are alive. */
export const hasStopped = async (gateway: Gateway, writer: string): Promise<boolean> =>
  gateway.service('cluster').get()?.hasDied(writer) ?? hasExited(writer)

/** The changes that store the records of a fragment; with `when`, none of them may be stored yet. */
export const recordChanges = (
  { spans, events, artifacts }: Prepared,
  when: { readonly when?: 'absent' } = {},
): Change[] => [
  ...spans.filter(({ changed }) => changed).map(({ row }): Change => ({ table: 'spans', put: row, ...when })),
  ...events.filter(({ changed }) => changed).map(({ row }): Change => ({ table: 'events', put: row, ...when })),
  ...artifacts.filter(({ changed }) => changed).map(({ row }): Change => ({ table: 'artifacts', put: row, ...when })),
]

/** Adds the records of a fragment to its run, one per step. */
export function* addRecords({ spans, events, artifacts, rebuild }: Prepared, run: OpenRun): Generator<undefined> {
  // a run that was loaded again holds the changed records already
  const isNew = ({ old, changed }: { readonly old: unknown; readonly changed: boolean }) =>
    old === undefined || (changed && !rebuild)
  for (const { row } of spans.filter(isNew)) yield void run.addSpan(row)
  for (const event of events.filter(isNew)) {
    if (event.old === undefined) yield void run.addEvent(event.row)
    else yield void run.changeEvent(event.row)
  }
  for (const { row, old } of artifacts) if (old === undefined) yield void run.addArtifact(row)
}
