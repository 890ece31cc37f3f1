import type { ImportSource } from 'guard-gateway/lib/export-format'
import { type JsonElement, jsonElements } from './elements.ts'
import { ImportFile } from './file.ts'

const MEMBER = 'elements'

/** The elements of a file that is one JSON array, one by one. Throws TOO_DEEP and INVALID_JSON with line and column. */
export function* arrayElements(file: ImportSource, maxDepth: number): Generator<JsonElement> {
  const wrapped = new ImportFile(function* () {
    yield Buffer.from(`{"${MEMBER}":`)
    yield* file.chunks()
    yield Buffer.from('}')
  })
  for (const element of jsonElements(wrapped, { [MEMBER]: {} }, maxDepth + 1, ({ length }) => length === 2))
    yield { ...element, path: element.path.slice(1) }
}
