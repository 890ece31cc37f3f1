import { type Fragment, type Gateway, GuardError, statusOf } from 'guard-gateway/core'
import { guardNames } from 'guard-gateway/lib/otlp'

/** The rejected records of one fragment, with the reasons. */
export interface Refusals {
  /** By span id. */
  readonly spans: ReadonlyMap<string, GuardError>
  /** Of events and artifacts. */
  readonly others: readonly GuardError[]
  /** What was stored otherwise than it was sent. */
  readonly notes: readonly string[]
}

/** Runs per batch: fewer than stay open, or those loaded first would be evicted before they are written. */
const BATCH_RUNS = 100

/** Writes fragments in batches; a batch with a rejected record is written fragment by fragment. Throws storage errors. */
export const writeFragments = async (
  gateway: Gateway,
  fragments: readonly Fragment[],
): Promise<readonly Refusals[]> => {
  const refusals: Refusals[] = []
  for (let from = 0; from < fragments.length; from += BATCH_RUNS)
    refusals.push(...(await writeBatch(gateway, fragments.slice(from, from + BATCH_RUNS))))
  return refusals
}

const writeBatch = async (gateway: Gateway, fragments: readonly Fragment[]): Promise<readonly Refusals[]> => {
  const ids = new Set(fragments.map(({ run }) => run.trace_id))
  if (fragments.length > 1 && ids.size === fragments.length) {
    try {
      await gateway.keep(fragments)
      return []
    } catch (error) {
      refusalOf(error)
    }
  }
  const refusals: Refusals[] = []
  for (const one of fragments) refusals.push(await writePartly(gateway, one))
  return refusals
}

const writePartly = async (gateway: Gateway, fragment: Fragment): Promise<Refusals> => {
  const partial = new PartialWrite(gateway)
  await partial.keep(fragment)
  if (![...partial.spans.values(), ...partial.others].some(({ code }) => code === 'TRACE_CONFLICT')) return partial
  const retry = new PartialWrite(gateway)
  await retry.keep(inTheRunsProject(fragment))
  const { trace_id, project_id } = fragment.run
  retry.notes.push(
    `run ${trace_id} belongs to another project than "${project_id}"; its spans were kept there, with "${guardNames.declaredProject}"`,
  )
  return retry
}

/** The fragment for a run of another project: two services of one trace may name two, and no span is lost for it. */
const inTheRunsProject = (fragment: Fragment): Fragment => {
  const { project_id, ...run } = fragment.run
  const declared = { [guardNames.declaredProject]: project_id }
  return {
    ...fragment,
    run,
    spans: fragment.spans.map((span) => ({ ...span, attributes: { ...span.attributes, ...declared } })),
  }
}

/** The error if it is about the data; errors of the gateway are rethrown. */
const refusalOf = (error: unknown): GuardError => {
  if (error instanceof GuardError && statusOf(error) < 500) return error
  throw error
}

const RECORD = /^\/(?:spans|events|artifacts)\//
/** The error is about the run, so leaving a record out does not help. */
const concernsRun = ({ code, place }: GuardError): boolean =>
  code === 'TRACE_CONFLICT' || code === 'RUN_FULL' || (place.path !== undefined && !RECORD.test(place.path))

/** Writes one fragment without its rejected records. */
class PartialWrite implements Refusals {
  readonly spans = new Map<string, GuardError>()
  readonly others: GuardError[] = []
  readonly notes: string[] = []
  readonly #gateway: Gateway

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Bisects a rejected fragment until the invalid record is alone: a valid one is redacted a few times at most. */
  async keep(whole: Fragment): Promise<void> {
    const fragment = this.#withoutOrphans(whole)
    const size = fragment.spans.length + fragment.events.length + fragment.artifacts.length
    if (size === 0) return
    try {
      await this.#gateway.keep([fragment])
    } catch (thrown) {
      const error = refusalOf(thrown)
      if (size === 1 || concernsRun(error)) return this.#refuse(fragment, error)
      const middle = Math.ceil(size / 2)
      await this.keep(part(fragment, 0, middle))
      await this.keep(part(fragment, middle, size))
    }
  }

  #refuse({ spans, events, artifacts }: Fragment, error: GuardError): void {
    for (const { id } of spans) this.spans.set(id, error)
    for (const _record of [...events, ...artifacts]) this.others.push(error)
  }

  /** Events and artifacts go with a span that was refused. */
  #withoutOrphans(fragment: Fragment): Fragment {
    if (this.spans.size === 0) return fragment
    const stays = ({ span_id }: { readonly span_id?: string | null }): boolean => !this.spans.has(span_id ?? '')
    return { ...fragment, events: fragment.events.filter(stays), artifacts: fragment.artifacts.filter(stays) }
  }
}

/** The records from one position to another, spans counted before events, events before artifacts. */
const part = (fragment: Fragment, from: number, to: number): Fragment => {
  const { spans, events, artifacts } = fragment
  const slice = <T>(records: readonly T[], before: number): readonly T[] =>
    records.slice(Math.max(0, from - before), Math.max(0, to - before))
  return {
    ...fragment,
    spans: slice(spans, 0),
    events: slice(events, spans.length),
    artifacts: slice(artifacts, spans.length + events.length),
  }
}
