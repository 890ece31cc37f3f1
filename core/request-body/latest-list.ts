import type { Span } from './member.ts'
import { parseSlice } from './skim.ts'

interface ParsedList {
  readonly body: Buffer
  readonly elements: readonly unknown[]
}

/** Of the body read last; whether it is still there is for the garbage collector to say. */
let latest: WeakRef<ParsedList> | undefined

/** Notes what the list of a body was parsed as. */
export const noteList = (body: Buffer, elements: readonly unknown[]): void => {
  latest = new WeakRef({ body, elements })
}

/**
 * The list that stands at `place`, parsed again if another body was read since. A call that kept its own for as long as it is
 * under way would have each collection of young garbage copy it, and it takes several times as much memory as the bytes.
 */
export const listAt = (body: Buffer, { start, end }: Span): readonly unknown[] => {
  const known = latest?.deref()
  if (known?.body === body) return known.elements
  const elements = parseSlice(body, start, end) as readonly unknown[]
  noteList(body, elements)
  return elements
}
