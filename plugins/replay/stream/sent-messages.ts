import { randomBytes } from 'node:crypto'

/** Limit of retained messages. */
const MAX_MESSAGES = 1_000
const MAX_CHARS = 524_288

/** Topic of a listener: changed runs, or every stored event. */
export type StreamKind = 'runs' | 'events'

/** A message as it was sent. */
export interface Sent {
  readonly number: number
  readonly kind: StreamKind
  readonly text: string
  /** Whose it is; null: of no project; undefined: it tells of nothing, and is for everybody. */
  readonly project_id: string | null | undefined
}

/** Replay buffer of a stream's last messages by id, for reconnecting listeners. */
export class SentMessages {
  /** Distinguishes ids of other processes and streams. */
  readonly #name = randomBytes(6).toString('hex')
  readonly #now: () => number
  #last = 0
  /** For each kind, all messages after this one are retained. */
  readonly #since: Record<StreamKind, number> = { runs: 0, events: 0 }
  #held: Sent[] = []
  #chars = 0

  /** `now` in milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Id of the last message: stream, number and time in milliseconds since 1970. */
  get id(): string {
    return `${this.#name}-${this.#last}-${this.#now()}`
  }

  /** Adds a message; returns it with its id, as sent. */
  add(kind: StreamKind, event: string, data: string, project_id?: string | null): Sent {
    this.#last++
    const text = `id: ${this.id}\nevent: ${event}\ndata: ${data}\n\n`
    const sent = { number: this.#last, kind, text, project_id }
    this.#held.push(sent)
    this.#chars += text.length
    while (this.#held.length > MAX_MESSAGES || this.#chars > MAX_CHARS) this.#drop()
    return sent
  }

  /** Drops the older half. */
  #drop(): void {
    const gone = this.#held.splice(0, Math.ceil(this.#held.length / 2))
    for (const { text } of gone) this.#chars -= text.length
    const last = gone.at(-1)?.number ?? 0
    for (const kind of ['runs', 'events'] as const) this.#since[kind] = Math.max(this.#since[kind], last)
  }

  /** Marks a gap in messages of this kind, so that reconnecting listeners get a reset. */
  forget(kind: StreamKind): void {
    this.#since[kind] = ++this.#last
  }

  /** Messages of a kind after an id; undefined if some are not retained. */
  after(kind: StreamKind, id: string): readonly Sent[] | undefined {
    const [, name, digits] = ID.exec(id) ?? []
    const number = Number(digits)
    if (name !== this.#name || number < this.#since[kind] || number > this.#last) return undefined
    return this.#held.filter((sent) => sent.kind === kind && sent.number > number)
  }
}

const ID = /^([0-9a-f]{12})-(\d{1,15})-(\d{1,15})$/

/** Send time of a message id, in milliseconds since 1970; undefined for an invalid id. */
export const sentAt = (id: string): number | undefined => {
  const [, , , ms] = ID.exec(id) ?? []
  return ms === undefined ? undefined : Number(ms)
}
