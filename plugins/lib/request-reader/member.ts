import { parseSlice, skimObject, skipValue } from './scanner.ts'

/** Where a value stands in its JSON text: `start` inclusive, `end` exclusive, in bytes. */
export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Where the value of a top-level member stands in the text of a JSON object; undefined if it has none of that name.
 * Throws INVALID_BODY for text that is no JSON object.
 */
export const memberSpan = (json: Buffer, name: string): Span | undefined => {
  let found: Span | undefined
  skimObject(json, {
    member(member, start) {
      const end = skipValue(json, start, 1)
      if (member === name) found = { start, end }
      return end
    },
  })
  return found
}

/** The value of a top-level member, undefined if there is none. Throws INVALID_BODY. */
export const memberValue = (json: Buffer, name: string): unknown => {
  const span = memberSpan(json, name)
  return span === undefined ? undefined : parseSlice(json, span.start, span.end)
}
