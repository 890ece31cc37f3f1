import type { MemoryBudget, MemoryPart } from '#lib/memory-budget'
import { detachBuffer } from './buffer-ownership.ts'

const MIN_BUFFER_BYTES = 4096
const MAX_BODIES = 4096
/** The largest body, as a part of the budget: 8 MiB of 48, 85 of 512. */
const LARGEST_BODY = 1 / 6
/** The most that idle buffers take, which wait for another body, as a part of what rests: 4 MiB of 48. */
const IDLE_BUFFERS = 1 / 12
/** How long a body is in use, in milliseconds: to read it anew costs a few, which matters only to a conversation that goes on faster. */
const USE_MS = 1000
/** The most bodies of one name: several conversations may share a session. */
const MAX_PER_NAME = 16

/** A copy of a request body in a reused buffer, with the state of its reader. */
export interface CachedBody<State> {
  /** The buffer, which may be longer than the body. */
  bytes: Buffer
  length: number
  state: State
  /** Size of the state in bytes, about. */
  state_bytes: number
  /** When it was stored, in milliseconds of a clock that never goes back. */
  used_at: number
}

/**
 * A cache of earlier request bodies by name. It holds at most 4,096 bodies, and what the memory budget has for them and their states,
 * and evicts the least recently used ones; those of the last second only when the whole budget is used. The memory of an evicted body is freed at once: its buffer is old by then, and garbage
 * collection would free it much later.
 */
export class BodyCache<State> {
  readonly #byName = new Map<string, CachedBody<State>[]>()
  readonly #idle = new Map<number, Buffer[]>()
  readonly #sizeOf: (state: State) => number
  readonly #max_body_bytes: number
  readonly #max_idle_bytes: number
  readonly #memory: MemoryPart
  readonly #now: () => number
  /** Without idle buffers. */
  #bytes = 0
  #idle_bytes = 0
  #count = 0

  /** `sizeOf` estimates the bytes of a state. */
  constructor(sizeOf: (state: State) => number, budget: MemoryBudget, now = () => performance.now()) {
    this.#sizeOf = sizeOf
    this.#now = now
    this.#max_body_bytes = budget.bytes * LARGEST_BODY
    this.#max_idle_bytes = budget.resting_bytes * IDLE_BUFFERS
    this.#memory = budget.part({ name: 'bodies', shrink: (bytes, isUrgent) => this.#shrink(bytes, isUrgent) })
  }

  /** The bodies of this name, the latest first. */
  get(name: string): readonly CachedBody<State>[] {
    return this.#byName.get(name) ?? []
  }

  /** Adds a copy of a body. `reuse`, an entry of the same name, is overwritten with it. */
  set(name: string, body: Buffer, state: State, reuse: CachedBody<State> | undefined): void {
    if (body.length > this.#max_body_bytes) return
    const entry = reuse ?? { bytes: EMPTY, length: 0, state, state_bytes: 0, used_at: 0 }
    if (entry.bytes.length < body.length) {
      this.#release(entry.bytes)
      entry.bytes = this.#allocate(body.length)
    }
    body.copy(entry.bytes)
    entry.length = body.length
    entry.used_at = this.#now()
    entry.state = state
    this.#bytes -= entry.state_bytes
    entry.state_bytes = this.#sizeOf(state)
    this.#bytes += entry.state_bytes
    this.#touch(name, entry, reuse === undefined)
    while (this.#count > MAX_BODIES) this.#evictOldest()
    this.#hold()
  }

  /** Frees all bodies and idle buffers. */
  clear(): void {
    for (const bodies of this.#byName.values()) for (const { bytes } of bodies) detachBuffer(bytes)
    this.#byName.clear()
    this.#bytes = 0
    this.#count = 0
    this.#freeIdle()
    this.#hold()
  }

  #hold(): void {
    this.#memory.hold(this.#bytes + this.#idle_bytes)
  }

  #shrink(bytes: number, isUrgent: boolean): void {
    const unused_since = isUrgent ? Number.POSITIVE_INFINITY : this.#now() - USE_MS
    while (this.#bytes + this.#max_idle_bytes > bytes && this.#count > 0 && this.#usedLongestAgo() < unused_since)
      this.#evictOldest()
    if (this.#bytes + this.#idle_bytes > bytes) this.#freeIdle()
    this.#hold()
  }

  #freeIdle(): void {
    for (const idle of this.#idle.values()) for (const bytes of idle) detachBuffer(bytes)
    this.#idle.clear()
    this.#idle_bytes = 0
  }

  #touch(name: string, entry: CachedBody<State>, fresh: boolean): void {
    const bodies = this.#byName.get(name) ?? []
    if (fresh) this.#count++
    else bodies.splice(bodies.indexOf(entry), 1)
    bodies.unshift(entry)
    if (bodies.length > MAX_PER_NAME) this.#evict(bodies.pop())
    this.#byName.delete(name)
    this.#byName.set(name, bodies)
  }

  /** When the name that was used longest ago was. */
  #usedLongestAgo(): number {
    return this.#byName.values().next().value?.[0]?.used_at ?? 0
  }

  #evictOldest(): void {
    for (const [name, bodies] of this.#byName) {
      this.#evict(bodies.pop())
      if (bodies.length === 0) this.#byName.delete(name)
      return
    }
  }

  #evict(entry: CachedBody<State> | undefined): void {
    if (entry === undefined) return
    this.#count--
    this.#bytes -= entry.state_bytes
    this.#release(entry.bytes)
  }

  #allocate(length: number): Buffer {
    let size = MIN_BUFFER_BYTES
    while (size < length) size *= 2
    this.#bytes += size
    const idle = this.#idle.get(size)?.pop()
    if (idle === undefined) return Buffer.allocUnsafeSlow(size)
    this.#idle_bytes -= size
    return idle
  }

  #release(bytes: Buffer): void {
    const size = bytes.length
    if (size === 0) return
    this.#bytes -= size
    if (this.#idle_bytes + size > this.#max_idle_bytes) return void detachBuffer(bytes)
    const idle = this.#idle.get(size) ?? []
    this.#idle.set(size, idle)
    idle.push(bytes)
    this.#idle_bytes += size
  }
}

const EMPTY = Buffer.alloc(0)
