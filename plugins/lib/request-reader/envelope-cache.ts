import type { ApiStyle, Envelope } from 'guard-gateway/core'
import type { Piece } from './conversation/hashed-parts.ts'
import type { ParsedList } from './last-parsed-list.ts'
import { shortened } from './long-texts.ts'
import type { Span } from './member.ts'
import { nestsWithin } from './scanner.ts'

const LIMIT = 16
const BYTE_LIMIT = 64 * 1024

/** What stands around the list of a body, and what it was read as. */
export interface Frame {
  readonly envelope: Envelope
  /** What the envelope says before the list. */
  readonly before: readonly Piece[]
}

interface KnownFrame extends Frame {
  readonly style: ApiStyle
  /** Up to the bracket that opens the list, and from the one that closes it. */
  readonly head: Buffer
  readonly tail: Buffer
}

/** What stands around the lists of bodies, the latest first: a client's requests, in whatever sessions, often differ in their lists alone. At most 16 of 64 KiB. */
export class KnownFrames {
  readonly #known: KnownFrame[] = []

  /** Reads only the list of a body, if this style has read what stands around it. */
  framedList(style: ApiStyle, body: Buffer): (Frame & { readonly list: ParsedList }) | undefined {
    const known = this.#known
    const index = known.findIndex((frame) => frame.style === style && surrounds(frame, body))
    const frame = known[index]
    if (frame === undefined) return
    if (index > 0) known.unshift(...known.splice(index, 1))
    const place = { start: frame.head.length - 1, end: body.length - frame.tail.length + 1 }
    const list = listIn(style, body, place)
    return list === undefined ? undefined : { envelope: frame.envelope, before: frame.before, list }
  }

  /** Remembers what stands around the list there, its brackets included. */
  keep(style: ApiStyle, body: Buffer, { start, end }: Span, frame: Frame): void {
    if (start + body.length - end > BYTE_LIMIT) return
    this.#known.unshift({ style, head: copyOf(body, 0, start + 1), tail: copyOf(body, end - 1, body.length), ...frame })
    if (this.#known.length > LIMIT) this.#known.pop()
  }

  clear(): void {
    this.#known.length = 0
  }
}

const copyOf = (body: Buffer, start: number, end: number): Buffer => Buffer.from(body.subarray(start, end))

const surrounds = ({ head, tail }: KnownFrame, body: Buffer): boolean =>
  body.length >= head.length + tail.length &&
  body.compare(head, 0, head.length, 0, head.length) === 0 &&
  body.compare(tail, 0, tail.length, body.length - tail.length) === 0

/** The list; undefined where the bytes between are none of their own: they could end it and begin another. */
const listIn = (style: ApiStyle, body: Buffer, place: Span): ParsedList | undefined => {
  const { json, wording } = shortened(style, body.subarray(place.start, place.end))
  try {
    const elements: unknown = JSON.parse(json.toString(wording.encoding))
    return Array.isArray(elements) && nestsWithin(elements, 2) ? { place, wording, elements } : undefined
  } catch {
    return
  }
}
