import type { ApiStyle } from 'guard-gateway/core'
import { literal, type Wording } from './conversation/string-encoding.ts'
import type { Span } from './member.ts'
import { parseSlice } from './scanner.ts'

/** The list of a body as it was parsed. */
export interface ParsedList {
  /** Undefined in a body without one. */
  readonly place: Span | undefined
  /** Of the strings in its elements. */
  readonly wording: Wording
  readonly elements: readonly unknown[]
}

interface Noted {
  readonly style: ApiStyle
  readonly body: Buffer
  readonly list: ParsedList
}

/** The list of the body read last; whether it is still there is for the garbage collector to say. */
export class LatestList {
  #latest: WeakRef<Noted> | undefined

  /** Notes what a style parsed the list of a body as. */
  note(style: ApiStyle, body: Buffer, list: ParsedList): void {
    this.#latest = new WeakRef({ style, body, list })
  }

  /**
   * The list at `place`, parsed again if another was read since. A call that kept its own for as long as it is
   * under way would have each collection of young garbage copy them, and they take several times as much memory as the bytes.
   */
  at(style: ApiStyle, body: Buffer, place: Span): ParsedList {
    const known = this.#latest?.deref()
    if (known?.body === body && known.style === style) return known.list
    const elements = parseSlice(body, place.start, place.end) as readonly unknown[]
    const list = { place, wording: literal.utf8, elements }
    this.note(style, body, list)
    return list
  }

  clear(): void {
    this.#latest = undefined
  }
}
