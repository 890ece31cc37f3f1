import type { Trace, TraceSpan } from '#lib/trace'
import type { TimeRange } from '../read/in-window.ts'
import { endOf } from '../read/span-time.ts'
import { NS_PER_MS } from '../time.ts'

/** Visible range of a timeline; nanoseconds from the start of the run. */
export interface Window {
  /** Start of the run, nanoseconds since 1970. */
  readonly origin_ns: bigint
  /** Length of the run, at least 1. */
  readonly length_ns: bigint
  readonly from: bigint
  readonly to: bigint
}

/** Range of `from` and `to`; the whole run if they are absent or invalid. `now` in milliseconds. */
export const windowOf = ({ run, spans }: Trace, query: URLSearchParams, now: number): Window => {
  const end_ns = run.end_ns ?? lastKnown(spans, BigInt(now) * NS_PER_MS)
  const length_ns = end_ns > run.start_ns ? end_ns - run.start_ns : 1n
  const from = offset(query.get('from'), 0n, length_ns)
  const to = offset(query.get('to'), length_ns, length_ns)
  const whole = { origin_ns: run.start_ns, length_ns }
  return from < to ? { ...whole, from, to } : { ...whole, from: 0n, to: length_ns }
}

/** The current time, or later if the writer's clock is ahead. */
const lastKnown = (spans: readonly TraceSpan[], now_ns: bigint): bigint =>
  spans.map(({ start_ns, end_ns }) => end_ns ?? start_ns).reduce((last, at) => (at > last ? at : last), now_ns)

const offset = (text: string | null, otherwise: bigint, length_ns: bigint): bigint => {
  if (text === null || !/^\d{1,19}$/.test(text)) return otherwise
  const value = BigInt(text)
  return value > length_ns ? length_ns : value
}

export const isFullRange = ({ from, to, length_ns }: Window): boolean => from === 0n && to === length_ns

/** The window as a range of time. */
export const rangeOf = ({ origin_ns, from, to }: Window): TimeRange => ({
  from_ns: origin_ns + from,
  to_ns: origin_ns + to,
})

/** Position in the window, in percent; below 0 and above 100 it is invisible. */
export const percentOf = ({ origin_ns, from, to }: Window, at_ns: bigint): number =>
  (100 * Number(at_ns - origin_ns - from)) / Number(to - from)

/** Centre of the visible part of a span; undefined if it is invisible. */
export const middleOf = (
  { origin_ns, from, to }: Window,
  span: Pick<TraceSpan, 'status' | 'start_ns' | 'end_ns'>,
): bigint | undefined => {
  const [begins, ends] = [span.start_ns - origin_ns, (endOf(span) ?? origin_ns + to) - origin_ns]
  return begins > to || ends < from ? undefined : (clamp(begins, from, to) + clamp(ends, from, to)) / 2n
}

/** Window with half or twice the width around a point, by default its centre, within the run. */
export const zoomed = (
  { from, to, length_ns }: Window,
  closer: boolean,
  middle = (from + to) / 2n,
): Pick<Window, 'from' | 'to'> => {
  const width = closer ? (to - from) / 2n : (to - from) * 2n
  const clamped = width < 1n ? 1n : width > length_ns ? length_ns : width
  const start = clamp(middle - clamped / 2n, 0n, length_ns - clamped)
  return { from: start, to: start + clamped }
}

const clamp = (value: bigint, least: bigint, most: bigint): bigint =>
  value < least ? least : value > most ? most : value

const SECOND = 1_000_000_000
const DAY = 86_400 * SECOND
const COARSE = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600].map((s) => s * SECOND)
const MAX_TICKS = 5

/** At most five round times in the window, nanoseconds from the start. */
export const ticksOf = ({ from, to }: Window): readonly bigint[] => {
  const least = Number(to - from) / MAX_TICKS
  const step = BigInt(
    least > SECOND ? (COARSE.find((one) => one >= least) ?? DAY * roundUp(least / DAY)) : roundUp(least),
  )
  const ticks: bigint[] = []
  for (let at = ((from + step - 1n) / step) * step; at < to; at += step) ticks.push(at)
  return ticks
}

/** Next of 1, 2, 5, 10, 20, 50 … */
const roundUp = (least: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)))
  return ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10) * power
}
