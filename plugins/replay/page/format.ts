import { costText, countText, durationText, timeText } from 'guard-gateway/lib/format'
import { type Html, html, raw } from 'guard-gateway/lib/html'
import type { RunSummary } from 'guard-gateway/lib/trace-file'
import { urlOf } from '../run-address.ts'
import { NS_PER_MS } from '../time.ts'

const marks = new Map<string, readonly [kind: string, sign: Html]>([
  ['ok', ['ok', raw`✓`]],
  ['error', ['error', raw`✕`]],
  ['timeout', ['error', raw`✕`]],
  ['blocked', ['warning', raw`■`]],
  ['cancelled', ['quiet', raw`○`]],
  ['running', ['running', raw`●`]],
])

/** A status as a small shape and its word. */
export const statusMark = (status: string): Html => {
  const [kind, sign] = marks.get(status) ?? ['quiet', raw`·`]
  return html`<span class="status ${kind}">${sign} ${status}</span>`
}

/** An instant in UTC; script shows it in the reader's zone. `now` in milliseconds. */
export const timeMark = (ns: bigint, now: number): Html => {
  const at = Number(ns / NS_PER_MS)
  return html`<time datetime="${new Date(at).toISOString()}">${timeText(at, now)}</time>`
}

/** How long a run took, or has been going on; nanoseconds. `now` in milliseconds. */
export const lasted = (
  { start_ns, duration_ns }: Pick<RunSummary, 'start_ns' | 'duration_ns'>,
  now: number,
): bigint => {
  if (duration_ns !== null) return duration_ns
  const since = BigInt(now) * NS_PER_MS - start_ns
  return since < 0n ? 0n : since
}

/** A length of time with its exact value. */
export const durationMark = (ns: bigint): Html => html`<span title="${ns} ns">${durationText(ns)}</span>`

/** When something happened, by the start of its run. */
export const sinceText = (ns: bigint): string => `${ns < 0n ? '' : '+'}${durationText(ns)}`

/** A count with its exact value. */
export const countMark = (count: bigint | number): Html =>
  Math.abs(Number(count)) < 1_000
    ? html`${count}`
    : html`<span title="${Number(count).toLocaleString('en')}">${countText(count)}</span>`

/** A number of things and what they are. */
export const counted = (count: number, thing: string): Html => html`${countMark(count)} ${thing}${count !== 1 && 's'}`

/** A cost with its exact value in millionths. */
export const costMark = (micro: bigint): Html =>
  micro === 0n ? html`0` : html`<span title="${micro} millionths">${costText(micro)}</span>`

/** What a run is called: its name, else what its first step asked for, else its id. */
export const titleOf = ({ name, trace_id }: Pick<RunSummary, 'name' | 'trace_id'>, step?: string): string =>
  firstText(name, step, trace_id)

const firstText = (...texts: readonly (string | null | undefined)[]): string =>
  texts.find((text) => text !== null && text !== undefined && text.trim() !== '') ?? ''

const MAX_CHARS = 60

/** A text cut in its middle, where both ends tell what it is. */
export const middled = (text: string, max = MAX_CHARS): string => {
  if (text.length <= max) return text
  const tail = Math.floor(max / 3)
  return `${text.slice(0, max - tail - 1).toWellFormed()}…${text.slice(-tail).toWellFormed()}`
}

/** `tool.call#2`, where letters that run from right to left do not take the number along; the name is cut to fit. */
export const numbered = (title: string, max = Number.POSITIVE_INFINITY): Html => {
  const [number = ''] = /#\d+$/.exec(title) ?? []
  const name = title.slice(0, title.length - number.length)
  return html`<bdi>${middled(name, max - number.length)}</bdi>${number}`
}

/** Why a run failed, as a link to the span that shows it. */
export const tagMark = ({ trace_id, failure_tag, failure_evidence }: RunSummary): Html => {
  if (failure_tag === null) return html``
  const span_id = failure_evidence?.span_id ?? null
  if (span_id === null) return html`${failure_tag}`
  return html`<a href="${spanUrl(trace_id, span_id)}">${failure_tag}</a>`
}

/** The page of a run with one span chosen. */
export const spanUrl = (trace_id: string, span_id: string): string =>
  `${urlOf(trace_id)}?span=${encodeURIComponent(span_id)}#${rowId(span_id)}`

/** The id of a span's row. */
export const rowId = (span_id: string): string => `span-${span_id}`
