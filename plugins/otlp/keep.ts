import { type Fragment, type Gateway, GuardError, statusOf } from 'guard-gateway/core'
import { guardNames } from 'guard-gateway/lib/otlp'

/** What of one fragment was refused, with the reasons. */
export interface Refusals {
  /** By span id. */
  readonly spans: ReadonlyMap<string, GuardError>
  /** Of events and artifacts. */
  readonly others: readonly GuardError[]
  /** What was kept otherwise than it was sent. */
  readonly notes: readonly string[]
}

/** Runs that are kept together: fewer than are held open, or those read first would be gone before they are written. */
const TOGETHER = 100

/** Keeps fragments: some together if nothing is wrong with any, else each as far as it goes. Throws why no more could be stored. */
export const keepAll = async (gateway: Gateway, wanted: readonly Fragment[]): Promise<readonly Refusals[]> => {
  const refusals: Refusals[] = []
  for (let from = 0; from < wanted.length; from += TOGETHER)
    refusals.push(...(await keepSome(gateway, wanted.slice(from, from + TOGETHER))))
  return refusals
}

const keepSome = async (gateway: Gateway, wanted: readonly Fragment[]): Promise<readonly Refusals[]> => {
  const ids = new Set(wanted.map(({ run }) => run.trace_id))
  if (wanted.length > 1 && ids.size === wanted.length) {
    try {
      await gateway.keep(wanted)
      return []
    } catch (error) {
      refusalOf(error)
    }
  }
  const refusals: Refusals[] = []
  for (const one of wanted) refusals.push(await keepMost(gateway, one))
  return refusals
}

const keepMost = async (gateway: Gateway, fragment: Fragment): Promise<Refusals> => {
  const keeping = new Keeping(gateway)
  await keeping.keep(fragment)
  if (![...keeping.spans.values(), ...keeping.others].some(({ code }) => code === 'TRACE_CONFLICT')) return keeping
  const again = new Keeping(gateway)
  await again.keep(inTheRunsProject(fragment))
  const { trace_id, project_id } = fragment.run
  again.notes.push(
    `run ${trace_id} belongs to another project than "${project_id}"; its spans were kept there, with "${guardNames.declaredProject}"`,
  )
  return again
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

/** The error if it is about what was sent; what is wrong with us is thrown on. */
const refusalOf = (error: unknown): GuardError => {
  if (error instanceof GuardError && statusOf(error) < 500) return error
  throw error
}

const RECORD = /^\/(?:spans|events|artifacts)\//
/** Said of the run, so that leaving a record out does not help. */
const concernsRun = ({ code, place }: GuardError): boolean =>
  code === 'TRACE_CONFLICT' || code === 'RUN_FULL' || (place.path !== undefined && !RECORD.test(place.path))

/** Keeps one fragment without the records that are refused. */
class Keeping implements Refusals {
  readonly spans = new Map<string, GuardError>()
  readonly others: GuardError[] = []
  readonly notes: string[] = []
  readonly #gateway: Gateway

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Halves what is refused until the odd record stands alone: a sound one is cleaned a few times at most, however many are odd. */
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
