import type { Trace, TraceSpan } from 'guard-gateway/core'
import { NS_PER_MS } from '../time.ts'

/** The part of a run that its timeline shows; nanoseconds from its start. */
export interface Window {
  /** Start of the run, nanoseconds since 1970. */
  readonly origin_ns: bigint
  /** Of the whole run, at least 1. */
  readonly length_ns: bigint
  readonly from: bigint
  readonly to: bigint
}

/** The part that `from` and `to` name, the whole run without them or where they make no sense. `now` in milliseconds. */
export const windowOf = ({ run, spans }: Trace, query: URLSearchParams, now: number): Window => {
  const end_ns = run.end_ns ?? lastKnown(spans, BigInt(now) * NS_PER_MS)
  const length_ns = end_ns > run.start_ns ? end_ns - run.start_ns : 1n
  const from = offset(query.get('from'), 0n, length_ns)
  const to = offset(query.get('to'), length_ns, length_ns)
  const whole = { origin_ns: run.start_ns, length_ns }
  return from < to ? { ...whole, from, to } : { ...whole, from: 0n, to: length_ns }
}

/** By now, or later where the clock of who wrote these spans is ahead. */
const lastKnown = (spans: readonly TraceSpan[], now_ns: bigint): bigint =>
  spans.map(({ start_ns, end_ns }) => end_ns ?? start_ns).reduce((last, at) => (at > last ? at : last), now_ns)

const offset = (text: string | null, otherwise: bigint, length_ns: bigint): bigint => {
  if (text === null || !/^\d{1,19}$/.test(text)) return otherwise
  const value = BigInt(text)
  return value > length_ns ? length_ns : value
}

export const isWhole = ({ from, to, length_ns }: Window): boolean => from === 0n && to === length_ns

/** Where an instant lies in the window, in percent; beyond 0 and 100 it is not seen. */
export const percentOf = ({ origin_ns, from, to }: Window, at_ns: bigint): number =>
  (100 * Number(at_ns - origin_ns - from)) / Number(to - from)

/** The middle of what the window shows of a span; undefined if it shows nothing of it. */
export const middleOf = (
  { origin_ns, from, to }: Window,
  { start_ns, end_ns }: Pick<TraceSpan, 'start_ns' | 'end_ns'>,
): bigint | undefined => {
  const [begins, ends] = [start_ns - origin_ns, (end_ns ?? origin_ns + to) - origin_ns]
  return begins > to || ends < from ? undefined : (clamp(begins, from, to) + clamp(ends, from, to)) / 2n
}

/** The window at half or twice its width about a point, its own middle if none is given, within the run. */
export const zoomed = (
  { from, to, length_ns }: Window,
  closer: boolean,
  middle = (from + to) / 2n,
): Pick<Window, 'from' | 'to'> => {
  const width = closer ? (to - from) / 2n : (to - from) * 2n
  const wanted = width < 1n ? 1n : width > length_ns ? length_ns : width
  const start = clamp(middle - wanted / 2n, 0n, length_ns - wanted)
  return { from: start, to: start + wanted }
}

const clamp = (value: bigint, least: bigint, most: bigint): bigint =>
  value < least ? least : value > most ? most : value

const SECOND = 1_000_000_000
const DAY = 86_400 * SECOND
const COARSE = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600].map((s) => s * SECOND)
const MAX_TICKS = 5

/** Round times in the window, nanoseconds from the run's start, at most five. */
export const ticksOf = ({ from, to }: Window): readonly bigint[] => {
  const least = Number(to - from) / MAX_TICKS
  const step = BigInt(
    least > SECOND ? (COARSE.find((one) => one >= least) ?? DAY * roundUp(least / DAY)) : roundUp(least),
  )
  const ticks: bigint[] = []
  for (let at = ((from + step - 1n) / step) * step; at < to; at += step) ticks.push(at)
  return ticks
}

/** The next of 1, 2, 5, 10, 20, 50 … */
const roundUp = (least: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)))
  return ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10) * power
}
