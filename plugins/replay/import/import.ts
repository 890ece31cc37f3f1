import { Readable } from 'node:stream'
import {
  type Fragment,
  type FragmentArtifact,
  type FragmentEvent,
  type Gateway,
  GuardError,
  type SpanDraft,
} from 'guard-gateway/core'
import { exportFormatKind, type ImportedRecord, type ImportWarning } from '#lib/export-format'
import { sha256 } from '#lib/ids'
import { Pace } from '#lib/time-slice'
import { newSpanId } from '#lib/trace'
import { streamTrace } from '#lib/trace-file'
import { runReader } from '../read/run-reader.ts'
import { urlOf } from '../run-address.ts'
import type { RunWriter } from '../write/run-writer.ts'
import { type ImportOptions, type Plan, type Planned, planned, storedIds } from './plan.ts'
import { type OpenImport, openImport } from './reader.ts'
import { spooled } from './spool.ts'

export interface ImportAnswer {
  readonly imported: readonly {
    /** In a dry run the id of the file, because the new one is unknown. */
    readonly trace_id: string
    readonly source_trace_id: string
    readonly remapped: boolean
    /** An identical stored run. */
    readonly identical_to: string | null
    readonly spans: number
    readonly events: number
    readonly artifacts: number
    /** Null in a dry run. */
    readonly url: string | null
  }[]
  readonly skipped: Plan['skipped']
  readonly warnings: readonly (ImportWarning | { readonly code: string; readonly message: string })[]
  /** Nothing was stored. */
  readonly dry_run?: true
}

/** Imports all runs of a file atomically, with a few records in memory at a time. Throws TRACE_EXISTS, RUN_FULL, STORAGE_BUSY, errors of a record, and the signal's reason. */
export const importRuns = (
  gateway: Gateway,
  runWriter: RunWriter,
  file: OpenImport,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<ImportAnswer> => {
  const ids = [...new Set(file.runs.map(({ run }) => run.trace_id))]
  // no other writer of this process starts one of these runs
  return runWriter.exclusively(ids, async () => {
    const { plans, skipped } = await planned(gateway, file.runs, options)
    const taking = new RecordWriter(gateway, runWriter, plans, options, signal)
    const digests = await taking.all(file)
    const imported: ImportAnswer['imported'][number][] = []
    const pace = new Pace()
    for (const [place, plan] of plans) {
      const identical_to = await identicalTo(gateway, file.format, digests[place] ?? '', plan, signal)
      imported.push({ ...summaryOf(plan, options), identical_to })
      if (pace.due) await pace.rest()
    }
    return {
      imported,
      skipped,
      warnings: [...file.warnings, ...taking.warnings],
      ...(options.dry_run === true ? { dry_run: true as const } : {}),
    }
  })
}

/** Stores the records of a file as they are read. */
class RecordWriter {
  readonly warnings: { readonly code: string; readonly message: string }[] = []
  readonly #gateway: Gateway
  readonly #runWriter: RunWriter
  readonly #plans: ReadonlyMap<number, Planned>
  readonly #options: ImportOptions
  readonly #signal: AbortSignal

  constructor(
    gateway: Gateway,
    runWriter: RunWriter,
    plans: ReadonlyMap<number, Planned>,
    options: ImportOptions,
    signal: AbortSignal,
  ) {
    this.#gateway = gateway
    this.#runWriter = runWriter
    this.#plans = plans
    this.#options = options
    this.#signal = signal
  }

  /** Returns the digest of each run. On an error all staged records are deleted. */
  async all(file: OpenImport): Promise<readonly string[]> {
    if (this.#options.dry_run === true) return this.#records(file)
    const ids = Array.from(this.#plans.values(), ({ trace_id }) => trace_id)
    const { staging } = this.#runWriter
    try {
      await staging.claim(ids)
      const digests = await this.#records(file)
      await this.#keep(Array.from(this.#plans, ([place, plan]) => this.#last(plan, digests[place] ?? '')))
      return digests
    } catch (error) {
      await staging.abandon(ids)
      throw error
    }
  }

  async #records(file: OpenImport): Promise<readonly string[]> {
    await this.#keep(Array.from(this.#plans.values(), (plan) => this.#first(plan)))
    const slices = file.slices()
    for (let next = await slices.next(); ; next = await slices.next()) {
      this.#signal.throwIfAborted()
      if (next.done === true) return next.value
      await this.#keep([...this.#fragments(next.value)])
    }
  }

  *#fragments(records: readonly ImportedRecord[]): Generator<Fragment> {
    const stored = records.map((one) => ({ ...one, record: storedIds(this.#gateway, one.record, RECORD_IDS) }))
    for (const [place, some] of Map.groupBy(stored as readonly ImportedRecord[], ({ run }) => run)) {
      const plan = this.#plans.get(place)
      if (plan === undefined) continue
      yield { ...fragmentOf(plan), ...identified(some, plan.remapped ? plan.trace_id : undefined) }
    }
  }

  /** First fragment of a run, with its fields. */
  #first(plan: Planned): Fragment {
    const { found, trace_id, remapped } = plan
    const { project_id } = this.#options
    const run = {
      ...found.run,
      trace_id,
      ...(project_id === undefined ? {} : { project_id }),
      ...(remapped ? { source_trace_id: found.run.trace_id } : {}),
    }
    return { ...fragmentOf(plan), run }
  }

  #last(plan: Planned, content_digest: string): Fragment {
    return { ...fragmentOf(plan), run: { trace_id: plan.trace_id, content_digest }, stage: 'last' }
  }

  async #keep(fragments: readonly Fragment[]): Promise<void> {
    if (fragments.length === 0) return
    const retained: Fragment[] = []
    const pace = new Pace()
    const plans = new Map(Array.from(this.#plans.values(), (plan) => [plan.trace_id, plan]))
    for (const fragment of fragments) {
      const plan = plans.get(fragment.run.trace_id)
      const [clean] = await this.#gateway.cleaned([fragment]).catch((error: unknown) => {
        throw withRecordNumber(error, plan)
      })
      if (clean === undefined) continue
      retained.push(clean.fragment)
      for (const { code, message } of clean.warnings) this.warnings.push({ code, message })
      if (plan !== undefined) count(plan, fragment)
      if (pace.due) await pace.rest()
    }
    if (this.#options.dry_run !== true) await this.#gateway.hooks.keep.promise(retained)
  }
}

const RECORD_IDS = ['id', 'parent_id', 'span_id', 'request_id'] as const

const fragmentOf = ({ trace_id }: Planned): Fragment & Identified => ({
  owner: 'client',
  origin: 'import',
  run: { trace_id },
  spans: [],
  events: [],
  artifacts: [],
  stage: 'more',
})

const count = ({ taken }: Planned, { spans, events, artifacts }: Fragment): void => {
  taken.spans += spans.length
  taken.events += events.length
  taken.artifacts += artifacts.length
}

/** Adds the record's number in the file to an error, because its fragment index means nothing to the sender. */
const withRecordNumber = (error: unknown, plan: Planned | undefined): unknown => {
  if (!(error instanceof GuardError) || plan === undefined) return error
  const [, kinds, place] = /^\/(spans|events|artifacts)\/(\d+)/.exec(error.place.path ?? '') ?? []
  if (kinds !== 'spans' && kinds !== 'events' && kinds !== 'artifacts') return error
  const number = plan.taken[kinds] + Number(place) + 1
  const record = `${kinds.slice(0, -1)} ${number} of run "${plan.found.run.trace_id}"`
  return new GuardError(error.entry, `In ${record}: ${error.message}`, { cause: error })
}

const summaryOf = ({ found, trace_id, remapped }: Planned, { dry_run }: ImportOptions) => {
  const { run, spans, events, artifacts } = found
  const gets = dry_run === true ? { trace_id: run.trace_id, url: null } : { trace_id, url: urlOf(trace_id) }
  return { ...gets, source_trace_id: run.trace_id, remapped, spans, events, artifacts }
}

/** Records of an imported run with their assigned ids. */
interface Identified {
  readonly spans: SpanDraft[]
  readonly events: FragmentEvent[]
  readonly artifacts: FragmentArtifact[]
}

/** Assigns ids: those of the file, or new ones if absent. With `trace_id`, all ids are new and derived from it. */
const identified = (records: Iterable<ImportedRecord>, trace_id: string | undefined): Identified => {
  const to = trace_id === undefined ? retained : (id: string) => sha256(`${trace_id}:${id}`).slice(0, 16)
  const orNull = (id: string | null | undefined): string | null => (id === undefined || id === null ? null : to(id))
  const all: Identified = { spans: [], events: [], artifacts: [] }
  for (const { kind, record } of records) {
    if (kind === 'span')
      all.spans.push(
        trace_id === undefined ? record : { ...record, id: to(record.id), parent_id: orNull(record.parent_id) },
      )
    else if (kind === 'event')
      all.events.push({ ...record, id: to(record.id ?? `evt_${newSpanId()}`), span_id: orNull(record.span_id) })
    else all.artifacts.push({ ...record, id: to(record.id ?? `art_${newSpanId()}`), span_id: orNull(record.span_id) })
  }
  return all
}

const retained = (id: string): string => id

/** Id of a stored run that is the same up to ids: the run that the file was exported from, or another import. */
const identicalTo = async (
  gateway: Gateway,
  format: string,
  content_digest: string,
  { found, trace_id }: Planned,
  signal: AbortSignal,
): Promise<string | null> => {
  const { storage } = gateway
  const source = found.run.trace_id
  const stored = source === trace_id ? undefined : await storage.get('runs', source)
  if (stored !== undefined) {
    if (stored.content_digest === content_digest) return source
    if ((await digestOf(gateway, format, source, signal)) === content_digest) return source
  }
  const { rows } = await storage.find('runs', { where: { content_digest }, limit: 2 })
  return rows.find((row) => row.trace_id !== trace_id)?.trace_id ?? null
}

/** Digest that an export of a stored run in this format has; undefined where it is not exported. Only imports have stored ones. */
const digestOf = async (
  gateway: Gateway,
  id: string,
  trace_id: string,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const format = gateway.registry(exportFormatKind).get(id)
  if (format === undefined) return undefined
  const run = await runReader(gateway.storage, trace_id)
  const text = Readable.from(streamTrace(format, run), { objectMode: false })
  const file = await spooled(text, undefined, Number.POSITIVE_INFINITY)
  try {
    const reading = await openImport([format], file, '', signal)
    try {
      const slices = reading.slices()
      for (let next = await slices.next(); ; next = await slices.next()) {
        signal.throwIfAborted()
        if (next.done === true) return next.value[0]
      }
    } finally {
      await reading.close()
    }
  } finally {
    await file.close()
  }
}
