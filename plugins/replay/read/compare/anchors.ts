import type { Pair, Stretch, Tokens } from './align.ts'

/** Steps that both sides of a stretch have exactly once, as many as stand in the same order: the anchors of a patience diff. */
export const anchorsIn = ({ left, right }: Tokens, stretch: Stretch): readonly Pair[] => {
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
