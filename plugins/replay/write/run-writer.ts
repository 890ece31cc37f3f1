import { type Change, type Fragment, type Gateway, GuardError } from 'guard-gateway/core'
import { writeJson } from '#lib/json'
import { KeyedQueue } from '#lib/keyed-queue'
import type { MemoryBudget } from '#lib/memory-budget'
import { mapPaced, Pace, paced } from '#lib/time-slice'
import { replayErrors } from '../error-codes.ts'
import type { EventRow, RunRow } from '../tables.ts'
import { nowNs } from '../time.ts'
import { DeferredSums } from './deferred-sums.ts'
import { rowsOf } from './merge.ts'
import { OpenRun } from './open-run.ts'
import { loadRun, OpenRuns } from './open-runs.ts'
import { type Prepared, prepare } from './prepare.ts'
import { runChange } from './run-change.ts'
import { newRow, rowWith } from './run-row.ts'
import { changesWords } from './search-words.ts'
import { addRecords, recordChanges, Staging, unlessClaimed } from './staging.ts'

/** Spans of one run. */
export const MAX_SPANS = 50_000
const ATTEMPTS = 5

/** The result of writing a fragment. */
export interface Outcome {
  readonly created: boolean
  readonly row: RunRow
  /** The fragment's events after the merge. */
  readonly events: readonly EventRow[]
}

/** Called with each run that was written. */
export type OnWritten = (row: RunRow) => void

/** Writes fragments, and updates the summaries of their runs. */
export class RunWriter {
  readonly runs: OpenRuns
  readonly deferred: DeferredSums
  readonly staging: Staging
  readonly #gateway: Gateway
  readonly #queues = new KeyedQueue()
  readonly #outcomes = new WeakMap<Fragment, Outcome>()
  readonly written: OnWritten

  /** `open_bytes`: what open runs may take of the budget, about. */
  constructor(gateway: Gateway, written: OnWritten, budget: MemoryBudget, open_bytes?: number) {
    this.#gateway = gateway
    this.written = written
    this.runs = new OpenRuns(gateway, budget, open_bytes)
    this.deferred = new DeferredSums(gateway, this.runs)
    this.staging = new Staging(gateway)
  }

  /** The result of a fragment that was written. */
  outcome(fragment: Fragment): Outcome {
    const outcome = this.#outcomes.get(fragment)
    if (outcome === undefined) throw new TypeError('This fragment was not kept.')
    return outcome
  }

  /** Writes fragments of different runs in one batch; one writer at a time per run. Throws STORAGE_BUSY, and errors of a fragment. */
  keep(fragments: readonly Fragment[]): Promise<void> {
    const stage = fragments[0]?.stage
    // an import has claimed its runs already
    if (stage !== undefined) return stage === 'more' ? this.staging.keep(fragments) : this.#publish(fragments)
    const ids = [...new Set(fragments.map(({ run }) => run.trace_id))]
    if (ids.length !== fragments.length) throw new TypeError('Fragments kept together are of different runs.')
    return this.exclusively(ids, () => this.#keep(fragments))
  }

  /** Runs work while no other fragment of these runs is written. */
  exclusively<T>(ids: readonly string[], work: () => Promise<T>): Promise<T> {
    return this.#queues.runAll(ids, work)
  }

  /** Publishes staged runs, all at once. */
  async #publish(fragments: readonly Fragment[]): Promise<void> {
    const ends = await mapPaced(fragments, new Pace(), (fragment) => ({ fragment, ...this.staging.last(fragment) }))
    if (!(await this.#write(ends.flatMap(({ changes }) => changes)))) throw new GuardError('STORAGE_BUSY')
    this.staging.published(ends.map(({ run }) => run.row.trace_id))
    for (const { fragment, run } of ends) {
      this.#outcomes.set(fragment, { created: true, row: run.row, events: [] })
      this.written(run.row)
    }
  }

  async #keep(fragments: readonly Fragment[]): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const outcomes = await this.#attempt(fragments)
      if (outcomes !== undefined) {
        for (const [fragment, outcome] of outcomes) {
          this.#outcomes.set(fragment, outcome)
          this.written(outcome.row)
        }
        return
      }
    }
    throw new GuardError('STORAGE_BUSY')
  }

  /** Undefined: another writer has changed a run meanwhile. */
  async #attempt(fragments: readonly Fragment[]): Promise<ReadonlyMap<Fragment, Outcome> | undefined> {
    const now_ns = nowNs(this.#gateway.clock)
    const ready: (readonly [Prepared, OpenRun | undefined, Plan | undefined])[] = []
    for (const fragment of fragments) {
      const run = await this.runs.get(fragment.run.trace_id)
      const prepared = await prepare(fragment, run, this.#gateway.storage, now_ns)
      // a new run may be large; no other writer sees it, so it may yield to other work
      const plan = run === undefined ? await newRunPlan(prepared, now_ns) : undefined
      ready.push([prepared, prepared.rebuild ? await this.#reloaded(prepared) : run, plan])
    }
    // nothing awaits between here and the write, so no other writer of this process interferes
    if (ready.some(([{ fragment, rebuild }, run]) => !rebuild && this.runs.peek(fragment.run.trace_id) !== run))
      return undefined
    for (const [prepared, run] of ready) refuseFull(prepared, run)
    const plans = ready.map(([prepared, run, plan]) => plan ?? planOf(prepared, run, now_ns))
    const batch = plans.flatMap(({ changes }) => changes)
    for (const { run } of plans) this.runs.add(run)
    const written = await this.#write(batch).catch((error: unknown) => {
      for (const { run } of plans) this.runs.drop(run.row.trace_id)
      throw error
    })
    if (!written) {
      for (const { run } of plans) this.runs.drop(run.row.trace_id)
      return undefined
    }
    return new Map(plans.map(({ fragment, created, row, events }) => [fragment, { created, row, events }]))
  }

  #write(batch: readonly Change[]): Promise<boolean> {
    return batch.length === 0 ? Promise.resolve(true) : this.#gateway.storage.write(batch)
  }

  async #reloaded({ fragment, spans, events }: Prepared): Promise<OpenRun | undefined> {
    return loadRun(this.#gateway.storage, fragment.run.trace_id, {
      spans: new Map(spans.map(({ row }) => [row.id, row])),
      events: new Map(events.map(({ row }) => [row.id, row])),
    })
  }
}

const refuseFull = ({ spans }: Prepared, run: OpenRun | undefined): void => {
  const more = spans.filter(({ old }) => old === undefined).length
  if ((run?.spans.size ?? 0) + more > MAX_SPANS)
    throw new GuardError(replayErrors.RUN_FULL, `A run has at most ${MAX_SPANS} spans. Begin another trace.`)
}

interface Plan extends Outcome {
  readonly fragment: Fragment
  readonly run: OpenRun
  readonly changes: readonly Change[]
}

/** Adds a fragment to its run, and lists the changes to write. */
const planOf = (prepared: Prepared, found: OpenRun | undefined, now_ns: bigint): Plan => {
  const { run, finish } = beginPlan(prepared, found, now_ns)
  for (const _record of addRecords(prepared, run));
  return finish()
}

/** The same for a new run, yielding to other work. */
const newRunPlan = async (prepared: Prepared, now_ns: bigint): Promise<Plan> => {
  refuseFull(prepared, undefined)
  const { run, finish } = beginPlan(prepared, undefined, now_ns)
  await paced(addRecords(prepared, run), new Pace())
  return finish()
}

const beginPlan = (prepared: Prepared, found: OpenRun | undefined, now_ns: bigint) => {
  const { fragment } = prepared
  const created = found?.stored !== true
  const run = found ?? new OpenRun(newRow(fragment.run, fragment.origin, now_ns), false)
  const before = run.row
  const words = run.words.size
  const ownWords = run.words.own
  const row = rowWith(before, fragment, (id) => run.spans.get(id) !== undefined)
  const finish = (): Plan => {
    const records = recordChanges(prepared)
    const events = rowsOf(prepared.events)
    run.describe(row, created || changesWords(fragment.run) || row.project_id !== before.project_id)
    const changesRow = created || writeJson(row) !== writeJson(before)
    const changes = [...records, ...(fragment.rows ?? [])]
    if (records.length === 0 && !changesRow) return { fragment, run, created, row: before, events, changes }
    if (!run.stored && fragment.owner === 'client') changes.unshift(...unlessClaimed(run.row.trace_id, now_ns))
    const hasNewWords = prepared.rebuild || run.words.own !== ownWords || run.words.size !== words
    changes.push(runChange(run, hasNewWords, now_ns))
    return { fragment, run, created, row: run.row, events, changes }
  }
  return { run, finish }
}
