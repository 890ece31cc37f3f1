import { terminalLine } from 'guard-gateway/core'
import { durationText, type Ns } from './plain.ts'

/** A span of a run as its answer gives it. */
export interface ShownSpan {
  readonly id: string
  readonly depth: number
  readonly name: string
  readonly label: string | null
  readonly status: string
  readonly start_ns: Ns
  /** Null while running. */
  readonly end_ns: Ns | null
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly ShownEvent[]
}

export interface ShownEvent {
  readonly name: string
  readonly time_ns: Ns
  readonly severity: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** One line of a waterfall. */
export interface Bar {
  /** `name#n` behind two blanks a level; the root stands alone. */
  readonly title: string
  readonly bar: string
  readonly duration: string
  readonly status: string
  /** Decision and reason, or what the span is about. */
  readonly detail: string
}

const MIN_BAR = 10
const BESIDE_BAR = 40
const MAX_TITLE = 48

/** The lines of a run's tree, depth first, drawn for a terminal of `width` columns. A span that runs is open to the right. */
export const waterfall = (spans: readonly ShownSpan[], width: number): readonly Bar[] => {
  const titles = titlesOf(spans)
  const [first = 0n, last = 0n] = bounds(spans)
  const titleWidth = Math.min(MAX_TITLE, Math.max(0, ...titles.map((title) => title.length)))
  const room = Math.max(MIN_BAR, width - titleWidth - BESIDE_BAR)
  return spans.map((span, index) => ({
    title: (titles[index] ?? '').slice(0, titleWidth).padEnd(titleWidth),
    bar: drawn(span, { first, last, room }),
    duration: durationText(span.end_ns === null ? null : BigInt(span.end_ns) - BigInt(span.start_ns)),
    status: terminalLine(span.status),
    detail: detailOf(span),
  }))
}

const titlesOf = (spans: readonly ShownSpan[]): readonly string[] => {
  const counts = new Map<string, number>()
  return spans.map(({ name, depth }) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return `${'  '.repeat(depth)}${terminalLine(name)}${depth === 0 ? '' : `#${count}`}`
  })
}

const bounds = (spans: readonly ShownSpan[]): readonly [first?: bigint, last?: bigint] => {
  let [first, last]: [bigint | undefined, bigint | undefined] = [undefined, undefined]
  for (const { start_ns, end_ns } of spans) {
    const [start, end] = [BigInt(start_ns), BigInt(end_ns ?? start_ns)]
    if (first === undefined || start < first) first = start
    if (last === undefined || end > last) last = end
  }
  return first === undefined || last === undefined ? [] : [first, last]
}

const drawn = (
  { start_ns, end_ns }: ShownSpan,
  { first, last, room }: { readonly first: bigint; readonly last: bigint; readonly room: number },
): string => {
  const whole = Number(last - first)
  const column = (ns: Ns): number => (whole === 0 ? 0 : Math.round((Number(BigInt(ns) - first) / whole) * (room - 1)))
  const from = column(start_ns)
  const to = end_ns === null ? room - 1 : column(end_ns)
  const bar = to === from ? '│' : `├${'─'.repeat(to - from - 1)}${end_ns === null ? '╌' : '┤'}`
  return `${' '.repeat(from)}${bar}`.padEnd(room)
}

/** What was decided and why, else the label. */
const detailOf = ({ attributes, label, events }: ShownSpan): string => {
  const decided = events.find(({ name }) => name === 'policy.decision')?.attributes
  const words = [decided?.decision ?? attributes['guard.decision'], decided?.reason_code]
  const said = words.filter((word): word is string => typeof word === 'string')
  return terminalLine(said.length > 0 ? said.join(' ') : (label ?? ''))
}
