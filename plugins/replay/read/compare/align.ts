import diffSequences from '@jest/diff-sequences'
import type { Pace } from '#lib/time-slice'

/** The same sequences as numbers, left and right: equal numbers are equal steps. */
export interface Tokens {
  readonly left: Int32Array
  readonly right: Int32Array
}

/** A part of both sequences; ends are excluded. */
export interface Stretch {
  readonly left: number
  readonly left_end: number
  readonly right: number
  readonly right_end: number
}

/** An index of each sequence. */
export type Pair = readonly [left: number, right: number]

/** Its types describe the CommonJS form, in which the function is a member. */
const diff = diffSequences as unknown as typeof diffSequences.default

/** Longest sides that are compared at once: the time of a comparison grows with the product of what differs. */
const MAX_SIDE = 400

/**
 * Aligns two sequences: a longest common subsequence of the first kind of equality, then between its pairs of the next kind. Long stretches
 * are cut at steps that both have once (patience diff), and what has none is aligned piece by piece, so the time grows with the length.
 * Pairs rise on both sides.
 */
export const align = async (levels: readonly Tokens[], pace: Pace): Promise<readonly Pair[]> => {
  const [{ left, right } = { left: new Int32Array(), right: new Int32Array() }] = levels
  let gaps: readonly Stretch[] = [{ left: 0, left_end: left.length, right: 0, right_end: right.length }]
  const all: Pair[] = []
  for (const tokens of levels) {
    const open: Stretch[] = []
    for (const gap of gaps) {
      const pairs = await commonIn(tokens, gap, pace)
      for (const pair of pairs) all.push(pair)
      for (const between of gapsBetween(gap, pairs)) open.push(between)
      if (pace.due) await pace.rest()
    }
    gaps = open
  }
  return all.sort(([one], [other]) => one - other)
}

/** What lies between pairs and is empty on no side. */
const gapsBetween = (gap: Stretch, pairs: readonly Pair[]): readonly Stretch[] => {
  const gaps: Stretch[] = []
  let { left, right } = gap
  for (const [at, other] of [...pairs, [gap.left_end, gap.right_end] as const]) {
    if (at > left && other > right) gaps.push({ left, left_end: at, right, right_end: other })
    ;[left, right] = [at + 1, other + 1]
  }
  return gaps
}

/** Pairs of equal steps of a stretch, rising. */
const commonIn = async (tokens: Tokens, whole: Stretch, pace: Pace): Promise<readonly Pair[]> => {
  const pairs: Pair[] = []
  const open: Stretch[] = [whole]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const rest = withoutEnds(tokens, next, pairs)
    const found = await pairsIn(tokens, rest, pace)
    for (const pair of found.pairs) pairs.push(pair)
    if (found.isOpen) for (const gap of gapsBetween(rest, found.pairs)) open.push(gap)
    if (pace.due) await pace.rest()
  }
  return pairs.sort(([one], [other]) => one - other)
}

/** Pairs of a stretch; `isOpen`: what lies between them may hold more. */
const pairsIn = async (tokens: Tokens, stretch: Stretch, pace: Pace) => {
  if (stretch.left === stretch.left_end || stretch.right === stretch.right_end) return { pairs: [], isOpen: false }
  if (isShort(stretch)) return { pairs: exactPairs(tokens, stretch), isOpen: false }
  const pairs = anchorsIn(tokens, stretch)
  if (pairs.length > 0) return { pairs, isOpen: true }
  return { pairs: await pairsByPiece(tokens, stretch, pace), isOpen: false }
}

const isShort = ({ left, left_end, right, right_end }: Stretch): boolean =>
  left_end - left <= MAX_SIDE && right_end - right <= MAX_SIDE

/** Pairs equal beginnings and ends; what is left of the stretch. */
const withoutEnds = ({ left: one, right: other }: Tokens, stretch: Stretch, pairs: Pair[]): Stretch => {
  const { left, left_end, right, right_end } = stretch
  const most = Math.min(left_end - left, right_end - right)
  let begin = 0
  while (begin < most && one[left + begin] === other[right + begin]) begin++
  let end = 0
  while (end < most - begin && one[left_end - 1 - end] === other[right_end - 1 - end]) end++
  for (let step = 0; step < begin; step++) pairs.push([left + step, right + step])
  for (let step = 1; step <= end; step++) pairs.push([left_end - step, right_end - step])
  return { left: left + begin, left_end: left_end - end, right: right + begin, right_end: right_end - end }
}

const exactPairs = ({ left: one, right: other }: Tokens, { left, left_end, right, right_end }: Stretch): Pair[] => {
  const pairs: Pair[] = []
  const isCommon = (at: number, there: number): boolean => one[left + at] === other[right + there]
  diff(left_end - left, right_end - right, isCommon, (count, at, there) => {
    for (let step = 0; step < count; step++) pairs.push([left + at + step, right + there + step])
  })
  return pairs
}

/** Aligns a long stretch piece by piece; the next piece begins after the last pair, so that sides of unequal length stay together. */
const pairsByPiece = async (tokens: Tokens, stretch: Stretch, pace: Pace): Promise<readonly Pair[]> => {
  const pairs: Pair[] = []
  let { left, right } = stretch
  const { left_end, right_end } = stretch
  while (left < left_end && right < right_end) {
    const piece = {
      left,
      left_end: Math.min(left_end, left + MAX_SIDE),
      right,
      right_end: Math.min(right_end, right + MAX_SIDE),
    }
    const found = exactPairs(tokens, piece)
    const isLast = piece.left_end === left_end && piece.right_end === right_end
    const retained = isLast ? found : found.slice(0, Math.ceil((found.length * 3) / 4))
    for (const pair of retained) pairs.push(pair)
    const [at, there] = retained.at(-1) ?? [left + MAX_SIDE / 2, right + MAX_SIDE / 2]
    if (isLast) break
    ;[left, right] = [at + 1, there + 1]
    if (pace.due) await pace.rest()
  }
  return pairs
}

/** Steps that both sides of a stretch have exactly once, as many as stand in the same order: the anchors of a patience diff. */
const anchorsIn = ({ left, right }: Tokens, stretch: Stretch): readonly Pair[] => {
  const once = placesOfSingles(left, stretch.left, stretch.left_end)
  const there = placesOfSingles(right, stretch.right, stretch.right_end)
  const pairs: Pair[] = []
  for (const [token, at] of once) {
    const other = at < 0 ? undefined : there.get(token)
    if (other !== undefined && other >= 0) pairs.push([at, other])
  }
  return longestRise(pairs)
}

/** Place of each token; -1 for one that comes twice. In order of their first place. */
const placesOfSingles = (tokens: Int32Array, from: number, end: number): ReadonlyMap<number, number> => {
  const places = new Map<number, number>()
  for (let at = from; at < end; at++) {
    const token = tokens[at] ?? 0
    places.set(token, places.has(token) ? -1 : at)
  }
  return places
}

/** The longest selection of pairs whose right sides rise too; the left ones do already. */
const longestRise = (pairs: readonly Pair[]): readonly Pair[] => {
  /** Index of the last pair of the best rise of each length. */
  const tails: number[] = []
  const before = new Int32Array(pairs.length)
  for (const [index, [, right]] of pairs.entries()) {
    const length = reachOf(pairs, tails, right)
    before[index] = tails[length - 1] ?? -1
    tails[length] = index
  }
  const rise: Pair[] = []
  for (let pair = pairs[tails.at(-1) ?? -1], at = tails.at(-1) ?? -1; pair !== undefined; pair = pairs[at]) {
    rise.push(pair)
    at = before[at] ?? -1
  }
  return rise.reverse()
}

/** How many pairs the best rise has that ends below `right`; by halving. */
const reachOf = (pairs: readonly Pair[], tails: readonly number[], right: number): number => {
  let [low, high] = [0, tails.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((pairs[tails[middle] ?? -1]?.[1] ?? 0) < right) low = middle + 1
    else high = middle
  }
  return low
}
