import type { PassedHeaders } from '#lib/mcp-transport'
import type { ClientResponse, OutgoingMessage } from '../relay/response.ts'
import type { Member } from './member.ts'
import type { ToClient } from './to-client.ts'

const LISTEN_AGAIN_MS = 1_000

/** The stream on which a client gets what members say unasked. Members that come later run into it, too. */
export class SharedStream {
  readonly #stream = new MergedStream<OutgoingMessage>()
  readonly #toClient: ToClient
  readonly #passed: PassedHeaders
  /** The last event ids, by members. */
  readonly #last: Map<string, string>
  readonly #over: () => void

  /** `after`: the last events that the client has had. */
  constructor(
    toClient: ToClient,
    passed: PassedHeaders,
    after: Readonly<Record<string, string>>,
    over: (stream: SharedStream) => void,
  ) {
    this.#toClient = toClient
    this.#passed = passed
    this.#last = new Map(Object.entries(after))
    this.#over = () => over(this)
  }

  get answer(): ClientResponse {
    return { form: 'sse', events: this.#stream, stop: () => this.stop() }
  }

  stop(): void {
    this.#stream.stop()
    this.#over()
  }

  /** Listens to a member, if it is there and offers a stream. */
  async add(member: Member): Promise<void> {
    const { running } = member
    if (running === undefined) return
    const leave = running.session.use()
    const heard = await running.clientRelay.listen(this.#last.get(member.id), this.#passed)
    if (heard.form !== 'sse') return leave()
    this.#stream.add({ items: this.#translated(member, heard.events), stop: () => heard.stop() }, () => {
      leave()
      this.#ended(member)
    })
  }

  /** A stream that ends while its session goes on is to be asked for again: by the client if it has no other, else here. */
  #ended(member: Member): void {
    if (member.running === undefined || member.running.session.ended) return
    if (this.#stream.size === 0) this.stop()
    else setTimeout(() => void this.add(member), LISTEN_AGAIN_MS).unref()
  }

  async *#translated(member: Member, events: AsyncIterable<OutgoingMessage> | readonly OutgoingMessage[]) {
    for await (const out of events) {
      const translated = this.#toClient.take(member, out, this.#last)
      if (translated !== undefined) yield translated
    }
  }
}

/** A source of a merged stream, which can be stopped. */
interface Source<T> {
  readonly items: AsyncIterable<T> | Iterable<T>
  stop(): void
}

/** Several streams as one; a source gives its next item when its last one was taken. */
class MergedStream<T> implements AsyncIterable<T> {
  readonly #sources = new Set<Source<T>>()
  readonly #waiting: { readonly item: T; readonly taken: () => void }[] = []
  #wake: (() => void) | undefined
  #isOver = false

  get size(): number {
    return this.#sources.size
  }

  /** `ended` is called when the source ends by itself. */
  add(source: Source<T>, ended: () => void = () => {}): void {
    this.#sources.add(source)
    if (this.#isOver) source.stop()
    void this.#read(source)
      .catch(() => {})
      .then(() => {
        this.#sources.delete(source)
        if (!this.#isOver) ended()
      })
  }

  async #read(source: Source<T>): Promise<void> {
    for await (const item of source.items) {
      if (this.#isOver) return
      await new Promise<void>((taken) => {
        this.#waiting.push({ item, taken })
        this.#wake?.()
      })
    }
  }

  /** Ends the stream and all its sources. */
  stop(): void {
    this.#isOver = true
    for (const source of this.#sources) source.stop()
    for (const { taken } of this.#waiting) taken()
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    try {
      while (!this.#isOver) {
        const next = this.#waiting.shift()
        if (next === undefined) {
          await new Promise<void>((wake) => {
            this.#wake = wake
          })
          continue
        }
        yield next.item
        next.taken()
      }
    } finally {
      this.stop()
    }
  }
}
