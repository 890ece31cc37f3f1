import { literal, type Wording } from '../conversation/wording.ts'
import type { Span } from './member.ts'
import { parseSlice } from './skim.ts'

/** The list of a body as it was parsed. */
export interface ParsedList {
  /** Undefined in a body without one. */
  readonly place: Span | undefined
  /** Of the strings in its elements. */
  readonly wording: Wording
  readonly elements: readonly unknown[]
}

/** Of the body read last; whether it is still there is for the garbage collector to say. */
let latest: WeakRef<{ readonly body: Buffer; readonly list: ParsedList }> | undefined

/** Notes what the list of a body was parsed as. */
export const noteList = (body: Buffer, list: ParsedList): void => {
  latest = new WeakRef({ body, list })
}

/**
 * The list at `place`, parsed again if another body was read since. A call that kept its own for as long as it is
 * under way would have each collection of young garbage copy them, and they take several times as much memory as the bytes.
 */
export const listAt = (body: Buffer, place: Span): ParsedList => {
  const known = latest?.deref()
  if (known?.body === body) return known.list
  const elements = parseSlice(body, place.start, place.end) as readonly unknown[]
  const list = { place, wording: literal.utf8, elements }
  noteList(body, list)
  return list
}
