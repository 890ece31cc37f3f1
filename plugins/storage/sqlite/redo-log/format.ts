import type { Shape } from '../../kysely/shape.ts'
import type { BatchValues } from '../protocol.ts'

/** The first line of a log. It names the database that the batches are for: each process that opens a database gives it a new name. */
export interface Heading {
  readonly database: string
  /** Rises by one each time that either log is rewound. */
  readonly turn: number
}

/** A line of statement shapes, which say how to read batches. Their numbers continue those of the earlier such lines. */
export interface ShapesLine {
  readonly shapes: readonly Shape[]
}

/** A line of batches. They were appended together. */
export type BatchesLine = readonly BatchValues[]

/**
 * The suffix of each line of a turn. A rewound log is overwritten in place, which needs no new disk pages.
 * A line with another suffix is left from an earlier turn, or was not written completely.
 */
export const lineEnd = (turn: number): string => ` ${turn}\n`

/** The two log files of a database. Batches go to one log while those of the other are committed. */
export const logFiles = (file: string): readonly string[] => [`${file}-ahead-a`, `${file}-ahead-b`]
