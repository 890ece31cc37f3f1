import type { Step } from '../../quality/trajectory.ts'
import type { Author } from '../author.ts'

/** Kinds of work without a loop: a turn by index. */
export type WorkKinds = Readonly<Record<string, (author: Author) => (index: number) => Step>>

/** One kind per variant. */
export const variants = <T>(
  prefix: string,
  of: Readonly<Record<string, T>>,
  kind: (variant: T) => WorkKinds[string],
): WorkKinds => Object.fromEntries(Object.entries(of).map(([name, variant]) => [`${prefix}_${name}`, kind(variant)]))

/** Repeats a sequence of turns. Each turn receives the number of the round. */
export const rounds =
  (places: readonly ((round: number) => Step)[]): ((index: number) => Step) =>
  (index) =>
    places[index % places.length]?.(Math.floor(index / places.length)) ?? { calls: [], results: [] }
