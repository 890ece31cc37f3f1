import type { Step } from '../../quality/trajectory.ts'
import type { Author } from '../author.ts'

/** Kinds of work that is no loop, by name: the turn of each number. */
export type WorkKinds = Readonly<Record<string, (author: Author) => (index: number) => Step>>

/** A kind for each variant. */
export const variants = <T>(
  prefix: string,
  of: Readonly<Record<string, T>>,
  kind: (variant: T) => WorkKinds[string],
): WorkKinds => Object.fromEntries(Object.entries(of).map(([name, variant]) => [`${prefix}_${name}`, kind(variant)]))

/** Turns that take turns: each by its place in a round, with the number of the round. */
export const rounds =
  (places: readonly ((round: number) => Step)[]): ((index: number) => Step) =>
  (index) =>
    places[index % places.length]?.(Math.floor(index / places.length)) ?? { calls: [], results: [] }
