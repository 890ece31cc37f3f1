import type { ImportSource } from 'guard-gateway/lib/export-format'
import { textOf } from './file.ts'

const FEED = 10

/** A line of a file without what ends it, in the pieces that it came in. */
export interface ByteLine {
  readonly parts: readonly Uint8Array[]
  /** From 1. */
  readonly line: number
  /** A line feed ends it; only the last line may have none. */
  readonly ended: boolean
}

/** The lines of a file as bytes. */
export function* byteLines(file: ImportSource): Generator<ByteLine> {
  let line = 1
  let before: Uint8Array[] = []
  for (const chunk of file.chunks()) {
    let start = 0
    for (let feed = chunk.indexOf(FEED); feed !== -1; feed = chunk.indexOf(FEED, start)) {
      yield { parts: [...before, chunk.subarray(start, feed)], line: line++, ended: true }
      before = []
      start = feed + 1
    }
    before.push(chunk.subarray(start))
  }
  yield { parts: before, line, ended: false }
}

/** The lines of a file without what ends them, numbered from 1. Throws INVALID_IMPORT for bytes that are no text. */
export function* textLines(file: ImportSource): Generator<{ readonly text: string; readonly line: number }> {
  for (const { parts, line } of byteLines(file)) yield { text: textOf(parts), line }
}
