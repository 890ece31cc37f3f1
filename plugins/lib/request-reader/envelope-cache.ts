import type { ApiStyle, Envelope } from 'guard-gateway/core'
import type { HashedPart } from './conversation/hashed-parts.ts'
import type { ParsedList } from './last-parsed-list.ts'
import { shortenTexts } from './long-texts.ts'
import type { Span } from './member.ts'
import { nestsWithin } from './scanner.ts'
import type { Spoken } from './spoken.ts'

const MAX_ENTRIES = 16
const MAX_ENTRY_BYTES = 64 * 1024

/** The envelope of a body: its members apart from the list. */
export interface ReadEnvelope {
  readonly envelope: Envelope
  /** The parts of the envelope before the list, as hashes. */
  readonly before: readonly HashedPart[]
}

interface CachedEnvelope extends ReadEnvelope {
  readonly style: ApiStyle
  readonly path: string
  /** The bytes up to and with the opening bracket of the list, and those from its closing bracket on. */
  readonly head: Buffer
  readonly tail: Buffer
}

/** A cache of envelopes by their bytes, the last used first: requests of one client, also of different sessions, often differ in their lists only. At most 16 entries of 64 KiB. */
export class EnvelopeCache {
  readonly #entries: CachedEnvelope[] = []

  /** Parses only the list of a body, if the bytes around it are cached for this style and path. Returns undefined if they are not. */
  parseList(
    { style, target: { path } }: Spoken,
    body: Buffer,
  ): (ReadEnvelope & { readonly list: ParsedList }) | undefined {
    const entries = this.#entries
    const index = entries.findIndex((entry) => entry.style === style && entry.path === path && matches(entry, body))
    const entry = entries[index]
    if (entry === undefined) return
    if (index > 0) entries.unshift(...entries.splice(index, 1))
    const span = { start: entry.head.length - 1, end: body.length - entry.tail.length + 1 }
    const list = listIn(style, body, span)
    return list === undefined ? undefined : { envelope: entry.envelope, before: entry.before, list }
  }

  /** Adds the envelope of a body. The span is that of its list, brackets included. */
  add({ style, target: { path } }: Spoken, body: Buffer, { start, end }: Span, entry: ReadEnvelope): void {
    if (start + body.length - end > MAX_ENTRY_BYTES) return
    this.#entries.unshift({
      style,
      path,
      head: copyOf(body, 0, start + 1),
      tail: copyOf(body, end - 1, body.length),
      ...entry,
    })
    if (this.#entries.length > MAX_ENTRIES) this.#entries.pop()
  }

  clear(): void {
    this.#entries.length = 0
  }
}

const copyOf = (body: Buffer, start: number, end: number): Buffer => Buffer.from(body.subarray(start, end))

const matches = ({ head, tail }: CachedEnvelope, body: Buffer): boolean =>
  body.length >= head.length + tail.length &&
  body.compare(head, 0, head.length, 0, head.length) === 0 &&
  body.compare(tail, 0, tail.length, body.length - tail.length) === 0

/** The parsed list; undefined if these bytes are not exactly one array: they could end the list and start another value. */
const listIn = (style: ApiStyle, body: Buffer, span: Span): ParsedList | undefined => {
  const { json, strings } = shortenTexts(style, body.subarray(span.start, span.end))
  try {
    const elements: unknown = JSON.parse(json.toString(strings.encoding))
    return Array.isArray(elements) && nestsWithin(elements, 2) ? { span, strings, elements } : undefined
  } catch {
    return
  }
}
