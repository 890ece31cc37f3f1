import { GuardError } from 'guard-gateway/core'
import { parseSlice, scanObject, skipValue } from './scanner.ts'

/** The span of a value in its JSON text, in bytes: `start` inclusive, `end` exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * The span of the value of a top-level member of a JSON object; undefined if the object has no such member.
 * Throws INVALID_BODY for text that is no JSON object.
 */
export const memberSpan = (json: Buffer, name: string): Span | undefined => {
  let found: Span | undefined
  scanObject(json, {
    member(member, start) {
      const end = skipValue(json, start, 1)
      if (member === name) found = { start, end }
      return end
    },
  })
  return found
}

/** The value of a top-level member; undefined if there is none. Throws INVALID_BODY. */
export const memberValue = (json: Buffer, name: string): unknown => {
  const span = memberSpan(json, name)
  return span === undefined ? undefined : parseSlice(json, span.start, span.end)
}

/**
 * The spans of the values of these top-level members, by name; absent members are left out.
 * Throws INVALID_BODY for text that is no JSON object, and for one of these names that occurs twice.
 */
export const uniqueMemberSpans = (json: Buffer, names: readonly string[]): ReadonlyMap<string, Span> => {
  const found = new Map<string, Span>()
  scanObject(json, {
    member(name, start) {
      const end = skipValue(json, start, 1)
      if (!names.includes(name)) return end
      if (found.has(name))
        throw new GuardError('INVALID_BODY', `The request body holds "${name}" twice.`, { path: `/${name}` })
      found.set(name, { start, end })
      return end
    },
  })
  return found
}
