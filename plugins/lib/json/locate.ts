import { pointerPart } from './pointer.ts'
import { isScanFault, scanJson } from './scan.ts'
import { lineAndColumn } from './syntax.ts'
import type { JsonValue } from './value.ts'

/** Keys from the outermost value inwards. */
export type JsonPath = readonly (string | number)[]

/** Line and column, both from 1, of the value at `path` in valid JSON; of the innermost one there is where the path leads nowhere. */
export const lineAndColumnAt = (text: string, path: JsonPath): { line: number; column: number } => {
  // where a whole text begins is asked of every span of a file
  if (path.length === 0) return lineAndColumn(text, Math.max(0, text.search(/[^ \t\n\r]/)))
  const scan = scanJson(text, { keep: path.length, max_depth: Number.POSITIVE_INFINITY })
  if (isScanFault(scan)) return { line: 1, column: 1 }
  let value = scan.root
  for (const key of path) {
    const part = partOf(value, key)
    if (part === undefined) break
    value = part
  }
  return lineAndColumn(text, value.start)
}

/** Of a member that appears twice the last counts, as it does for parsers. */
const partOf = ({ items, members }: JsonValue, key: string | number): JsonValue | undefined =>
  typeof key === 'number' ? items?.[key] : members?.findLast(({ name }) => name === key)?.value

/** The path as a JSON pointer. */
export const pointerOf = (path: JsonPath): string => path.map((key) => `/${pointerPart(String(key))}`).join('')

/** The pointer to the first number that not every reader of JSON takes for the same: an integer beyond 2^53, or a number beyond all; undefined if there is none. `value` nests as deep as its reader allowed. */
export const inexactNumber = (value: unknown, path: JsonPath = []): string | undefined => {
  if (typeof value === 'bigint') return pointerOf(path)
  if (typeof value === 'number') {
    const exact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    return exact ? undefined : pointerOf(path)
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, part] of Object.entries(value)) {
    const found = inexactNumber(part, [...path, key])
    if (found !== undefined) return found
  }
  return undefined
}
