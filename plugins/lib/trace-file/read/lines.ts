import type { ImportSource } from 'guard-gateway/lib/export-format'
import { textOf } from './file.ts'

const FEED = 10

/** The lines of a file without what ends them, numbered from 1. Throws INVALID_IMPORT for bytes that are no text. */
export function* textLines(file: ImportSource): Generator<{ readonly text: string; readonly line: number }> {
  let line = 1
  let before: Uint8Array[] = []
  for (const chunk of file.chunks()) {
    let start = 0
    for (let feed = chunk.indexOf(FEED); feed !== -1; feed = chunk.indexOf(FEED, start)) {
      yield { text: textOf([...before, chunk.subarray(start, feed)]), line: line++ }
      before = []
      start = feed + 1
    }
    before.push(chunk.subarray(start))
  }
  yield { text: textOf(before), line }
}
