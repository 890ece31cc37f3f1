import { LRU } from 'tiny-lru'

/** Conversations with memory of detectors; at most 256 KiB per detector and conversation, as the contract says. */
const CONVERSATIONS = 1024

/** LRU cache of what detectors remember of conversations; dropped memory is rebuilt from the next body. */
export class DetectorMemory {
  readonly #known = new LRU<Map<string, Map<string, unknown>>>(CONVERSATIONS)

  /** Several detectors read the current conversation, one after another. */
  #latest: { session: string; thread: string; memories: Map<string, Map<string, unknown>> } | undefined

  of(session: string, thread: string, detector: string): Map<string, unknown> {
    if (this.#latest?.session !== session || this.#latest.thread !== thread)
      this.#latest = { session, thread, memories: this.#touched(`${session} ${thread}`) }
    const { memories } = this.#latest
    const memory = memories.get(detector) ?? new Map<string, unknown>()
    memories.set(detector, memory)
    return memory
  }

  /** Forgets all conversations of a session. */
  drop(session: string): void {
    for (const name of [...this.#known.keys()]) if (name.startsWith(`${session} `)) this.#known.delete(name)
    if (this.#latest?.session === session) this.#latest = undefined
  }

  /** Counts as a use. */
  #touched(name: string): Map<string, Map<string, unknown>> {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const memories = new Map<string, Map<string, unknown>>()
    this.#known.set(name, memories)
    return memories
  }
}
