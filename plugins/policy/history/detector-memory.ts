import { LRU } from 'tiny-lru'
import { estimatedBytes, type MemoryBudget, type MemoryPart } from '#lib/memory-budget'

/** Conversations with memory of detectors; at most 256 KiB per detector and conversation, as the contract says. */
const CONVERSATIONS = 1024
/** A conversation in the cache, without what its detectors remember. */
const CONVERSATION_BYTES = 300

type Memories = Map<string, Map<string, unknown>>

interface Conversation {
  readonly memories: Memories
  uses: number
  bytes: number
}

/** LRU cache of what detectors remember of conversations; dropped memory is rebuilt from the next body. */
export class DetectorMemory {
  readonly #known = new LRU<Conversation>()
  readonly #memory: MemoryPart | undefined
  #bytes = 0

  /** Several detectors read the current conversation, one after another. */
  #latest: { session: string; thread: string; of: Conversation } | undefined

  constructor(budget?: MemoryBudget) {
    // a body that leaves its history out cannot rebuild it
    this.#memory = budget?.part({ name: 'detector_memory', shrink: (bytes) => this.#shrink(bytes), staysIdle: true })
  }

  of(session: string, thread: string, detector: string): Map<string, unknown> {
    if (this.#latest?.session !== session || this.#latest.thread !== thread) {
      this.#measure()
      this.#latest = { session, thread, of: this.#touched(`${session} ${thread}`) }
    }
    const { memories } = this.#latest.of
    const memory = memories.get(detector) ?? new Map<string, unknown>()
    memories.set(detector, memory)
    return memory
  }

  /** Forgets all conversations of a session. */
  drop(session: string): void {
    for (const name of [...this.#known.keys()]) if (name.startsWith(`${session} `)) this.#forget(name)
    if (this.#latest?.session === session) this.#latest = undefined
  }

  /** Counts as a use. */
  #touched(name: string): Conversation {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const conversation = { memories: new Map(), uses: 0, bytes: CONVERSATION_BYTES }
    this.#known.set(name, conversation)
    this.#bytes += conversation.bytes
    if (this.#known.size > CONVERSATIONS) this.#forget(this.#known.first?.key ?? '')
    return conversation
  }

  #forget(name: string): void {
    this.#bytes -= this.#known.peek(name)?.bytes ?? 0
    this.#known.delete(name)
  }

  /** Measures the current conversation after its 1st, 2nd, 4th, 8th … use: what is remembered grows no faster than its turns. */
  #measure(): void {
    const of = this.#latest?.of
    if (of === undefined || this.#memory === undefined) return
    of.uses++
    if ((of.uses & (of.uses - 1)) === 0 && this.#isKnown(of)) {
      this.#bytes -= of.bytes
      of.bytes = CONVERSATION_BYTES + estimatedBytes(of.memories)
      this.#bytes += of.bytes
    }
    this.#memory.hold(this.#bytes)
  }

  /** It may have been evicted while it was the current one. */
  #isKnown(of: Conversation): boolean {
    const { session = '', thread = '' } = this.#latest ?? {}
    return this.#known.peek(`${session} ${thread}`) === of
  }

  #shrink(bytes: number): void {
    while (this.#bytes > bytes && this.#known.first !== null) this.#forget(this.#known.first.key)
    this.#memory?.hold(this.#bytes)
  }
}
