import { EventSplitter, type OnData } from '#lib/sse'
import { JsonSplitter } from './json-splitter.ts'

/** How a stream is framed: as events, as a JSON value a line, or as one JSON array. */
export type Framing = 'events' | 'lines' | 'array'

const OPEN_ARRAY = 91
const OPEN_OBJECT = 123

/** White space, and the bytes of a byte order mark. */
const blanks: ReadonlySet<number> = new Set([9, 10, 13, 32, 0xef, 0xbb, 0xbf])

/** Splits a stream whose framing shows in its first byte: no line of an event stream begins like JSON. */
export class StreamSplitter {
  readonly #onData: OnData
  #splitter: EventSplitter | JsonSplitter | undefined
  /** Undefined until the stream has begun. */
  framing: Framing | undefined

  constructor(onData: OnData) {
    this.#onData = onData
  }

  get lastWasTooLong(): boolean {
    return this.#splitter?.lastWasTooLong === true
  }

  push(chunk: Uint8Array): void {
    this.#splitter ??= this.#splitterFor(chunk.find((byte) => !blanks.has(byte)))
    this.#splitter?.push(chunk)
  }

  end(): void {
    this.#splitter?.end()
  }

  #splitterFor(first: number | undefined): EventSplitter | JsonSplitter | undefined {
    if (first === undefined) return undefined
    this.framing = first === OPEN_OBJECT ? 'lines' : first === OPEN_ARRAY ? 'array' : 'events'
    return this.framing === 'events'
      ? new EventSplitter(this.#onData, { shortens: true })
      : new JsonSplitter(this.#onData)
  }
}
