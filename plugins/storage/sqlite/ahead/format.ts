import type { Shape } from '../../kysely/shape.ts'
import type { BatchValues } from '../protocol.ts'

/** A log's first line: the database, by the name it has for as long as one process keeps it open, whose batches follow. */
export interface Heading {
  readonly database: string
  /** Rises each time that a log begins anew, whichever of the two. */
  readonly turn: number
}

/** A line that says how batches are read: shapes by their numbers, which go on from those of the lines before. */
export interface ShapesLine {
  readonly shapes: readonly Shape[]
}

/** A line of batches that share their fate. */
export type BatchesLine = readonly BatchValues[]

/**
 * What stands behind each line of a turn. A log that begins anew is written over what it held, whose pages need not be found again:
 * a line with another end is left of an earlier turn, or was not written whole.
 */
export const lineEnd = (turn: number): string => ` ${turn}\n`

/** Batches go to one log while those of the other are committed. */
export const logFiles = (file: string): readonly string[] => [`${file}-ahead-a`, `${file}-ahead-b`]
