import { costText, countText, durationText, timeText } from '#lib/format'
import { type Html, html, raw } from '#lib/html'
import { UNSEEN } from '#lib/trace'
import type { RunSummary } from '#lib/trace-file'
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

/** A status as a symbol and its name. */
export const statusMark = (status: string): Html => {
  const [kind, sign] = marks.get(status) ?? ['quiet', raw`·`]
  return html`<span class="status ${kind}">${sign} ${statusWords(status)}</span>`
}

/** A status in words: that of a tool call which only a reply told of says what is missing. */
export const statusWords = (status: string): string => (status === UNSEEN ? 'no result seen' : status)

/** A time in UTC; a script converts it to the local zone. `now` in milliseconds. */
export const timeMark = (ns: bigint, now: number): Html => {
  const at = Number(ns / NS_PER_MS)
  return html`<time datetime="${new Date(at).toISOString()}">${timeText(at, now)}</time>`
}

/** Duration of a run, until now while it runs; nanoseconds. `now` in milliseconds. */
export const runDuration = (
  { start_ns, duration_ns }: Pick<RunSummary, 'start_ns' | 'duration_ns'>,
  now: number,
): bigint => {
  if (duration_ns !== null) return duration_ns
  const since = BigInt(now) * NS_PER_MS - start_ns
  return since < 0n ? 0n : since
}

/** A duration with its exact value. */
export const durationMark = (ns: bigint): Html => html`<span title="${ns} ns">${durationText(ns)}</span>`

/** Offset of a time from the start of its run. */
export const sinceText = (ns: bigint): string => `${ns < 0n ? '' : '+'}${durationText(ns)}`

/** A count with its exact value. */
export const countMark = (count: bigint | number): Html =>
  Math.abs(Number(count)) < 1_000
    ? html`${count}`
    : html`<span title="${Number(count).toLocaleString('en')}">${countText(count)}</span>`

/** A count with its unit. */
export const counted = (count: number, unit: string): Html => html`${countMark(count)} ${unit}${count !== 1 && 's'}`

/** A cost with its exact value in millionths. */
export const costMark = (micro: bigint): Html =>
  micro === 0n ? html`0` : html`<span title="${micro} millionths">${costText(micro)}</span>`

/** Title of a run: its name, the model or tool of its first step, or its id. */
export const titleOf = ({ name, trace_id }: Pick<RunSummary, 'name' | 'trace_id'>, step?: string): string =>
  firstText(name, step, trace_id)

const firstText = (...texts: readonly (string | null | undefined)[]): string =>
  texts.find((text) => text !== null && text !== undefined && text.trim() !== '') ?? ''

const MAX_CHARS = 60

/** Shortens a text in the middle. */
export const middleEllipsis = (text: string, max = MAX_CHARS): string => {
  if (text.length <= max) return text
  const tail = Math.floor(max / 3)
  return `${text.slice(0, max - tail - 1).toWellFormed()}…${text.slice(-tail).toWellFormed()}`
}

const AGENT_CHARS = 22

/** An agent's name, as a link to its page. */
export const agentLink = (agent: string, max = AGENT_CHARS): Html =>
  html`<a href="/agents/${encodeURIComponent(agent)}"><bdi>${middleEllipsis(agent, max)}</bdi></a>`

/** `tool.call#2`. The number is isolated from right-to-left letters; a long name is shortened. */
export const numbered = (title: string, max = Number.POSITIVE_INFINITY): Html => {
  const [number = ''] = /#\d+$/.exec(title) ?? []
  const name = title.slice(0, title.length - number.length)
  return html`<bdi>${middleEllipsis(name, max - number.length)}</bdi>${number}`
}

/** Failure tag of a run, as a link to its evidence. */
export const tagMark = ({ trace_id, failure_tag, failure_evidence }: RunSummary): Html => {
  if (failure_tag === null) return html``
  const span_id = failure_evidence?.span_id ?? null
  if (span_id === null) return html`${failure_tag}`
  return html`<a href="${spanUrl(trace_id, span_id)}">${failure_tag}</a>`
}

/** Address of a run's page with a selected span. */
export const spanUrl = (trace_id: string, span_id: string): string =>
  `${urlOf(trace_id)}?span=${encodeURIComponent(span_id)}#${rowId(span_id)}`

/** Element id of a span's row. */
export const rowId = (span_id: string): string => `span-${span_id}`
