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

  /** Other spans tell of the same reply. */
  isShared(index: number): boolean {
    const reply = this.#replies.get(index)
    if (reply === undefined) return false
    const { length } = this.#of(reply)
    // one more than identifies a reply undoes what was found before
    return length > 1 && length <= MAX_OF_REPLY + 1
  }

  /** Spans by reply, where there are several. */
  *shared(): Generator<readonly number[]> {
    for (const indexes of this.#indexes.values()) if (indexes.length > 1) yield indexes
  }

  #of({ id }: Reply): readonly number[] {
    return this.#indexes.get(id) ?? []
  }
}
