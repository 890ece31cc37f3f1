import { randomBytes } from 'node:crypto'
import type { StreamKind } from './stream.ts'

/** What is held of messages that were sent. */
const MAX_MESSAGES = 1_000
const MAX_CHARS = 524_288

interface Sent {
  readonly number: number
  readonly kind: StreamKind
  readonly text: string
}

/** The last messages of a stream under the ids that they bear, for listeners whose connection broke. */
export class SentMessages {
  /** Ids of another process, or of another stream, are none of ours. */
  readonly #name = randomBytes(6).toString('hex')
  readonly #now: () => number
  #last = 0
  /** Of each kind all messages behind this one are held. */
  readonly #since: Record<StreamKind, number> = { runs: 0, events: 0 }
  #held: Sent[] = []
  #chars = 0

  /** `now` in milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The id of the last message: its stream and number, and when that was, in milliseconds since 1970. */
  get id(): string {
    return `${this.#name}-${this.#last}-${this.#now()}`
  }

  /** A new message with its id, as it is sent. */
  add(kind: StreamKind, event: string, data: string): string {
    this.#last++
    const text = `id: ${this.id}\nevent: ${event}\ndata: ${data}\n\n`
    this.#held.push({ number: this.#last, kind, text })
    this.#chars += text.length
    while (this.#held.length > MAX_MESSAGES || this.#chars > MAX_CHARS) this.#drop()
    return text
  }

  /** The older half. */
  #drop(): void {
    const gone = this.#held.splice(0, Math.ceil(this.#held.length / 2))
    for (const { text } of gone) this.#chars -= text.length
    const last = gone.at(-1)?.number ?? 0
    for (const kind of ['runs', 'events'] as const) this.#since[kind] = Math.max(this.#since[kind], last)
  }

  /** Messages of this kind were not added for a while: who missed them cannot be told. */
  forget(kind: StreamKind): void {
    this.#since[kind] = ++this.#last
  }

  /** The messages of this kind behind the one with this id; undefined where they are not all held. */
  after(kind: StreamKind, id: string): string | undefined {
    const [, name, digits] = ID.exec(id) ?? []
    const number = Number(digits)
    if (name !== this.#name || number < this.#since[kind] || number > this.#last) return undefined
    const missed = this.#held.filter((sent) => sent.kind === kind && sent.number > number)
    return missed.map(({ text }) => text).join('')
  }
}

const ID = /^([0-9a-f]{12})-(\d{1,15})-(\d{1,15})$/

/** When the message with this id was sent, in milliseconds since 1970; undefined for an id of another form. */
export const sentAt = (id: string): number | undefined => {
  const [, , , ms] = ID.exec(id) ?? []
  return ms === undefined ? undefined : Number(ms)
}
