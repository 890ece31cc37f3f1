import type { Encoding } from '../conversation/byte-strings.ts'
import type { Span } from './member.ts'
import { parseSlice } from './skim.ts'

/** The list of a body as it was parsed. */
export interface ParsedList {
  /** Undefined in a body without one. */
  readonly place: Span | undefined
  /** Of the strings in its elements. */
  readonly encoding: Encoding
  readonly elements: readonly unknown[]
}

/** Of the body read last; whether it is still there is for the garbage collector to say. */
let latest: WeakRef<{ readonly body: Buffer; readonly list: ParsedList }> | undefined

/** Notes what the list of a body was parsed as. */
export const noteList = (body: Buffer, list: ParsedList): void => {
  latest = new WeakRef({ body, list })
}

/**
 * The elements of the list at `place`, parsed again if another body was read since. A call that kept its own for as long as it is
 * under way would have each collection of young garbage copy them, and they take several times as much memory as the bytes.
 */
export const elementsAt = (body: Buffer, place: Span, encoding: Encoding): readonly unknown[] => {
  const known = latest?.deref()
  if (known?.body === body && known.list.encoding === encoding) return known.list.elements
  const elements = parseSlice(body, place.start, place.end, encoding) as readonly unknown[]
  noteList(body, { place, encoding, elements })
  return elements
}
