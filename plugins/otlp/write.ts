import { type Fragment, type Gateway, GuardError, statusOf } from 'guard-gateway/core'
import { guardNames } from '#lib/otlp'

/** Rejected records of a fragment, with reasons. */
export interface Rejections {
  /** By span id. */
  readonly spans: ReadonlyMap<string, GuardError>
  /** Of events and artifacts. */
  readonly others: readonly GuardError[]
  /** Notes about changed data. */
  readonly notes: readonly string[]
}

/** Runs per batch. More would evict open runs before they are written. */
const BATCH_RUNS = 100

/** Writes fragments in batches. A batch with a rejected record is written fragment by fragment. Throws storage errors. */
export const writeFragments = async (
  gateway: Gateway,
  fragments: readonly Fragment[],
): Promise<readonly Rejections[]> => {
  const rejections: Rejections[] = []
  for (let from = 0; from < fragments.length; from += BATCH_RUNS)
    rejections.push(...(await writeBatch(gateway, fragments.slice(from, from + BATCH_RUNS))))
  return rejections
}

const writeBatch = async (gateway: Gateway, fragments: readonly Fragment[]): Promise<readonly Rejections[]> => {
  const ids = new Set(fragments.map(({ run }) => run.trace_id))
  if (fragments.length > 1 && ids.size === fragments.length) {
    try {
      await gateway.keep(fragments)
      return []
    } catch (error) {
      dataError(error)
    }
  }
  const rejections: Rejections[] = []
  for (const one of fragments) rejections.push(await writeValidPart(gateway, one))
  return rejections
}

const writeValidPart = async (gateway: Gateway, fragment: Fragment): Promise<Rejections> => {
  const partial = new PartialWrite(gateway)
  await partial.keep(fragment)
  if (![...partial.spans.values(), ...partial.others].some(({ code }) => code === 'TRACE_CONFLICT')) return partial
  const retry = new PartialWrite(gateway)
  await retry.keep(withoutProject(fragment))
  const { trace_id, project_id } = fragment.run
  if (retry.spans.size < fragment.spans.length)
    retry.notes.push(
      `run ${trace_id} belongs to another project than "${project_id}"; its spans were stored there, with "${guardNames.declaredProject}"`,
    )
  return retry
}

/** Moves the project into attributes, because services of one trace may name two projects. */
const withoutProject = (fragment: Fragment): Fragment => {
  const { project_id, ...run } = fragment.run
  const declared = { [guardNames.declaredProject]: project_id }
  return {
    ...fragment,
    run,
    spans: fragment.spans.map((span) => ({ ...span, attributes: { ...span.attributes, ...declared } })),
  }
}

/** Returns an error of the data, and rethrows errors of the gateway. */
const dataError = (error: unknown): GuardError => {
  if (error instanceof GuardError && statusOf(error) < 500) return error
  throw error
}

const RECORD = /^\/(?:spans|events|artifacts)\//
/** Whether the error concerns the run, so that dropping a record does not help. */
const concernsRun = ({ code, place }: GuardError): boolean =>
  code === 'TRACE_CONFLICT' || code === 'RUN_FULL' || (place.path !== undefined && !RECORD.test(place.path))

/** Writes a fragment without its rejected records. */
class PartialWrite implements Rejections {
  readonly spans = new Map<string, GuardError>()
  readonly others: GuardError[] = []
  readonly notes: string[] = []
  readonly #gateway: Gateway

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Bisects a rejected fragment until the invalid record is alone, so that a valid record is redacted few times. */
  async keep(original: Fragment): Promise<void> {
    const fragment = this.#withoutOrphans(original)
    const size = fragment.spans.length + fragment.events.length + fragment.artifacts.length
    if (size === 0) return
    try {
      await this.#gateway.keep([fragment])
    } catch (thrown) {
      const error = dataError(thrown)
      if (size === 1 || concernsRun(error)) return this.#refuse(fragment, error)
      const middle = Math.ceil(size / 2)
      await this.keep(sliceOf(fragment, 0, middle))
      await this.keep(sliceOf(fragment, middle, size))
    }
  }

  #refuse({ spans, events, artifacts }: Fragment, error: GuardError): void {
    for (const { id } of spans) this.spans.set(id, error)
    for (const _record of [...events, ...artifacts]) this.others.push(error)
  }

  /** Drops events and artifacts of rejected spans. */
  #withoutOrphans(fragment: Fragment): Fragment {
    if (this.spans.size === 0) return fragment
    const isRetained = ({ span_id }: { readonly span_id?: string | null }): boolean => !this.spans.has(span_id ?? '')
    return { ...fragment, events: fragment.events.filter(isRetained), artifacts: fragment.artifacts.filter(isRetained) }
  }
}

/** Records between two positions: spans first, then events, then artifacts. */
const sliceOf = (fragment: Fragment, from: number, to: number): Fragment => {
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
