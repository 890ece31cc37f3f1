import { MAX_OF_REPLY, type Reply } from '../repeated-calls.ts'

/** Estimated size of the reply of one span. */
const REPLY_BYTES = 250

/** Replies that spans of a run tell of, by index of the span. */
export class ToldReplies {
  readonly #replies = new Map<number, Reply>()
  readonly #indexes = new Map<string, number[]>()

  /** Estimated size in memory. */
  get bytes(): number {
    return this.#replies.size * REPLY_BYTES
  }

  /** Remembers, replaces or forgets the reply of a span. */
  set(index: number, reply: Reply | undefined): void {
    const old = this.#replies.get(index)
    if (old?.id === reply?.id && old?.scope === reply?.scope) return
    if (old !== undefined) {
      this.#replies.delete(index)
      const rest = this.#of(old).filter((other) => other !== index)
      if (rest.length === 0) this.#indexes.delete(old.id)
      else this.#indexes.set(old.id, rest)
    }
    if (reply === undefined) return
    this.#replies.set(index, reply)
    const others = this.#indexes.get(reply.id)
    if (others === undefined) this.#indexes.set(reply.id, [index])
    else others.push(index)
  }

  get(index: number): Reply | undefined {
    return this.#replies.get(index)
  }

  /** Another instrumentation tells of the same reply. */
  isShared(index: number): boolean {
    const indexes = this.with(index)
    // one more than identifies a reply undoes what was found before
    if (indexes.length < 2 || indexes.length > MAX_OF_REPLY + 1) return false
    const scope = this.#replies.get(index)?.scope
    return indexes.some((other) => this.#replies.get(other)?.scope !== scope)
  }

  /** Indexes of spans with the reply of a span, and its own; none if it has no reply. */
  with(index: number): readonly number[] {
    const reply = this.#replies.get(index)
    return reply === undefined ? [] : this.#of(reply)
  }

  /** Spans by reply, where there are several. */
  *shared(): Generator<readonly number[]> {
    for (const indexes of this.#indexes.values()) if (indexes.length > 1) yield indexes
  }

  #of({ id }: Reply): readonly number[] {
    return this.#indexes.get(id) ?? []
  }
}
