import {
  type Fragment,
  type FragmentEvent,
  type FragmentRun,
  GuardError,
  type Reader,
  type TableName,
  type Tables,
} from 'guard-gateway/core'
import { mapPaced, Pace } from '#lib/time-slice'
import { decisionEventId, toolEventId } from '#lib/trace'
import { replayErrors } from '../error-codes.ts'
import { evidenceOfEvent, evidenceOfSpan } from '../failures/tags.ts'
import type { ArtifactRow, EventRow, SpanRow } from '../tables.ts'
import { type Merged, mergeArtifact, mergeEvent, mergeSpan, rowsOf, type WriteContext } from './merge.ts'
import type { OpenRun } from './open-run.ts'
import type { RunSpans } from './run-spans.ts'
import { addEventWords, addSpanWords, losesWords } from './search-words.ts'

/** The records of a fragment, merged with the stored ones. */
export interface Prepared {
  readonly fragment: Fragment
  readonly spans: readonly Merged<SpanRow>[]
  readonly events: readonly Merged<EventRow>[]
  readonly artifacts: readonly Merged<ArtifactRow>[]
  /** Some changed record lost a search word or was evidence for a failure tag: the run must be loaded again. */
  readonly rebuild: boolean
}

/** Counts of records of the same run in earlier fragments. */
interface PriorRecords {
  readonly spans: number
  readonly events: number
  readonly run?: Pick<OpenRun, 'spans'>
}

type Records = 'spans' | 'events' | 'artifacts'

/** Merges the records of a fragment with those of the run. Throws SPAN_IMMUTABLE, EVENT_IMMUTABLE and INVALID_TIME with a pointer into the fragment. */
export const prepare = async (
  fragment: Fragment,
  run: OpenRun | undefined,
  storage: Reader,
  now_ns: bigint,
  prior: PriorRecords = { spans: 0, events: 0 },
): Promise<Prepared> => {
  const { trace_id } = fragment.run
  const known = run?.stored === true
  if (run !== undefined && fragment.owner === 'client') refuseGuarded(fragment, run)
  const merges = known && fragment.whole !== true
  const [oldSpans, oldEvents, oldArtifacts] = await Promise.all([
    merges ? existing(storage, 'spans', trace_id, knownSpans(fragment, run)) : none<SpanRow>(),
    merges ? existing(storage, 'events', trace_id, idsOf(fragment.events)) : none<EventRow>(),
    merges ? existing(storage, 'artifacts', trace_id, idsOf(fragment.artifacts)) : none<ArtifactRow>(),
  ])
  if (known && fragment.owner === 'client') await refuseGuardedEvents(fragment, oldEvents, storage)
  const context = (index: number): WriteContext => ({ trace_id, owner: fragment.owner, now_ns: now_ns + BigInt(index) })
  const pace = new Pace()
  const spans = await mapPaced(fragment.spans, pace, (draft, index) =>
    mergeSpan(draft, oldSpans.get(draft.id), context(prior.spans + index), `/spans/${index}`),
  )
  const timeless = fragment.events.some(({ time_ns }) => time_ns === undefined)
  const end = timeless ? endsIn(fragment.run, rowsOf(spans), prior.run?.spans) : undefined
  const events = await mapPaced(fragment.events, pace, (draft, index) =>
    mergeEvent(draft, oldEvents.get(draft.id), context(prior.events + index), end?.(draft)),
  )
  const artifacts = await mapPaced(fragment.artifacts, pace, (draft) =>
    mergeArtifact(draft, oldArtifacts.get(draft.id), context(0)),
  )
  const rebuild =
    spans.some((span) => retracts(span, evidenceOfSpan, addSpanWords)) ||
    events.some((event) => retracts(event, evidenceOfEvent, addEventWords))
  return { fragment, spans, events, artifacts, rebuild }
}

/** True if a record lost a search word, or was evidence that its change may withdraw. */
const retracts = <R>(
  { row, old, changed }: Merged<R>,
  evidenceOf: (record: R) => unknown,
  addWords: (words: Set<string>, record: R) => void,
): boolean => changed && old !== undefined && (evidenceOf(old) !== undefined || losesWords(old, row, addWords))

const none = <R>(): ReadonlyMap<string, R> => new Map()
const idsOf = (records: readonly { readonly id: string }[]): string[] => records.map(({ id }) => id)
const knownSpans = ({ spans }: Fragment, run: OpenRun): string[] =>
  idsOf(spans).filter((id) => run.spans.get(id) !== undefined)

const existing = async <N extends Records & TableName>(
  storage: Reader,
  table: N,
  trace_id: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Tables[N]>> => {
  const found = new Map<string, Tables[N]>()
  if (ids.length === 0) return found
  const find = storage.find as (
    name: N,
    query: { readonly where: object; readonly order: readonly [string, 'asc']; readonly limit: number },
  ) => Promise<{ readonly rows: readonly Tables[N][] }>
  // the order of the key avoids a scan of the run
  const { rows } = await find(table, {
    where: { trace_id, id: { in: ids } },
    order: ['id', 'asc'],
    limit: Math.min(ids.length, 10_000),
  })
  for (const row of rows) found.set(row.id, row)
  return found
}

const refuseGuarded = ({ spans }: Fragment, run: OpenRun): void => {
  const at = spans.findIndex(({ id }) => run.spans.get(id)?.guarded === true)
  const span = spans[at]
  if (span !== undefined)
    throw new GuardError(
      replayErrors.SPAN_IMMUTABLE,
      `Span "${span.id}" was written by the gateway and cannot be changed.`,
      {
        path: `/spans/${at}/id`,
      },
    )
}

const refuseGuardedEvents = async (
  { events, run }: Fragment,
  old: ReadonlyMap<string, EventRow>,
  storage: Reader,
): Promise<void> => {
  const requests = events.filter(({ id }) => id.startsWith('evt_')).map(({ id }) => `guardreq_${id.slice(4)}`)
  const audits = requests.map((id) => id.replace('guardreq_', 'aud_'))
  const calls =
    requests.length === 0
      ? []
      : (await storage.find('calls', { where: { trace_id: run.trace_id, id: { in: requests } }, limit: 1 })).rows
  const tools =
    requests.length === 0 || !storage.has('mcp_audit')
      ? []
      : (
          await storage.find('mcp_audit', {
            where: { trace_id: run.trace_id, id: { in: audits }, traced: true },
            limit: 1,
          })
        ).rows
  const taken = new Set([...calls.map(({ id }) => decisionEventId(id)), ...tools.map(({ id }) => toolEventId(id))])
  const at = events.findIndex(({ id }) => taken.has(id) || (old.get(id)?.owner ?? 'client') !== 'client')
  const event = events[at]
  if (event !== undefined)
    throw new GuardError(
      replayErrors.EVENT_IMMUTABLE,
      `Event "${event.id}" was written by the gateway and cannot be changed.`,
      {
        path: `/events/${at}/id`,
      },
    )
}

type Instant = bigint | null | undefined

/**
 * Returns when the span of an event ended, or the run of an event without a span: nanoseconds since 1970, undefined if it is running or
 * unknown. `earlier`: spans from earlier in the same file.
 */
const endsIn = (run: FragmentRun, spans: readonly SpanRow[], earlier?: Pick<RunSpans, 'get'>) => {
  const ends = new Map<string, Instant>(spans.map(({ id, end_ns }) => [id, end_ns]))
  const last = [...ends.values()].reduce(later, endOf(run))
  const endOfSpan = (id: string): Instant => (ends.has(id) ? ends.get(id) : earlier?.get(id)?.end_ns)
  return ({ span_id }: FragmentEvent): bigint | undefined => (span_id === null ? last : endOfSpan(span_id)) ?? undefined
}

const endOf = ({ status, start_ns, end_ns = start_ns }: FragmentRun): Instant => (status === 'running' ? null : end_ns)

const later = (a: Instant, b: Instant): Instant => {
  if (a === null || b === null) return null
  return a === undefined || (b !== undefined && b > a) ? b : a
}
