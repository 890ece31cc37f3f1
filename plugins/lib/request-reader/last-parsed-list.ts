import type { ApiStyle } from 'guard-gateway/core'
import { literal, type StringEncoding } from './conversation/string-encoding.ts'
import type { Span } from './member.ts'
import { parseSlice } from './scanner.ts'

/** The parsed list of a body. */
export interface ParsedList {
  /** The span of the list, brackets included; undefined in a body without a list. */
  readonly span: Span | undefined
  /** How the strings of the elements are encoded. */
  readonly strings: StringEncoding
  readonly elements: readonly unknown[]
}

interface LastParse {
  readonly style: ApiStyle
  readonly body: Buffer
  readonly list: ParsedList
}

/** A weak reference to the list that was parsed last; garbage collection may drop the list at any time. */
export class LastParsedList {
  #last: WeakRef<LastParse> | undefined

  /** Sets the list that a style parsed last. */
  set(style: ApiStyle, body: Buffer, list: ParsedList): void {
    this.#last = new WeakRef({ style, body, list })
  }

  /**
   * The list at this span; parsed again if another list was parsed since. If each running call kept its own list, every collection of
   * young garbage would copy them, and a parsed list takes several times the memory of its bytes.
   */
  get(style: ApiStyle, body: Buffer, span: Span): ParsedList {
    const last = this.#last?.deref()
    if (last?.body === body && last.style === style) return last.list
    const elements = parseSlice(body, span.start, span.end) as readonly unknown[]
    const list = { span, strings: literal.utf8, elements }
    this.set(style, body, list)
    return list
  }

  clear(): void {
    this.#last = undefined
  }
}
