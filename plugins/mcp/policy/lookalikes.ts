import { type Segments, segmentsOf } from '../actions/changes.ts'
import type { ToolCall } from '../tool-call.ts'

/** Controls and code points that leave no trace where text is shown. */
const UNSEEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu

const folded = (name: string): string => name.normalize('NFKC').replace(UNSEEN, '').toLowerCase().normalize('NFKC')

/** An argument key that a server might take for one the rule speaks of, and the one it looks like. */
export interface Lookalike {
  /** JSON pointer into the arguments. */
  readonly pointer: string
  readonly like: string
}

/** The first key of the call that looks like one of `named` without being equal to it. */
export const lookalike = (call: ToolCall, named: readonly Segments[]): Lookalike | undefined => {
  if (call.lookalikes.length === 0 || named.length === 0) return undefined
  for (const pointer of call.lookalikes) {
    const segments = segmentsOf(pointer)
    const like = named.find((wanted) => looksLike(segments, wanted))?.[segments.length - 1]
    if (like !== undefined) return { pointer, like }
  }
  return undefined
}

const looksLike = (segments: Segments, wanted: Segments): boolean => {
  const last = segments.length - 1
  if (wanted.length <= last || wanted[last] === '*' || wanted[last] === segments[last]) return false
  return segments.every((name, index) => wanted[index] === '*' || folded(wanted[index] ?? '') === folded(name))
}
