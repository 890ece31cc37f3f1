import { free } from './detach-buffer.ts'

const SMALLEST = 4096
const BYTE_LIMIT = 32 * 1024 * 1024
const COUNT_LIMIT = 4096
const LARGEST = 8 * 1024 * 1024
/** Of buffers that wait for another body. */
const FREE_LIMIT = 4 * 1024 * 1024
/** Bodies kept under one name: several conversations may share a session. */
const PER_NAME = 16

/** One request body remembered in a reused buffer, with what its reader made of it. */
export interface KeptBody<State> {
  /** As long as the body, or longer. */
  bytes: Buffer
  length: number
  state: State
  /** Bytes that the state takes, about. */
  weight: number
}

/**
 * Earlier request bodies by name, least recently used first out; with their states at most 32 MiB, and 4,096 bodies.
 * Buffers are freed at once: by the time they are dropped they are old, and garbage collection would leave several times as many about.
 */
export class KeptBodies<State> {
  readonly #byName = new Map<string, KeptBody<State>[]>()
  readonly #free = new Map<number, Buffer[]>()
  readonly #weigh: (state: State) => number
  #bytes = 0
  #free_bytes = 0
  #count = 0

  /** `weigh` tells how many bytes a state takes, about. */
  constructor(weigh: (state: State) => number) {
    this.#weigh = weigh
  }

  /** Those kept under this name, the latest first. */
  named(name: string): readonly KeptBody<State>[] {
    return this.#byName.get(name) ?? []
  }

  /** Copies a body; `reuse`, one of those named so, then holds it instead of its own. */
  keep(name: string, body: Buffer, state: State, reuse: KeptBody<State> | undefined): void {
    if (body.length > LARGEST) return
    const kept = reuse ?? { bytes: EMPTY, length: 0, state, weight: 0 }
    if (kept.bytes.length < body.length) {
      this.#release(kept.bytes)
      kept.bytes = this.#take(body.length)
    }
    body.copy(kept.bytes)
    kept.length = body.length
    kept.state = state
    this.#bytes -= kept.weight
    kept.weight = this.#weigh(state)
    this.#bytes += kept.weight
    this.#file(name, kept, reuse === undefined)
    while (this.#bytes > BYTE_LIMIT || this.#count > COUNT_LIMIT) this.#dropOldest()
  }

  /** Frees all bodies, and the buffers that wait for another. */
  clear(): void {
    for (const bodies of this.#byName.values()) for (const { bytes } of bodies) free(bytes)
    for (const waiting of this.#free.values()) for (const bytes of waiting) free(bytes)
    this.#byName.clear()
    this.#free.clear()
    this.#bytes = 0
    this.#free_bytes = 0
    this.#count = 0
  }

  #file(name: string, kept: KeptBody<State>, fresh: boolean): void {
    const bodies = this.#byName.get(name) ?? []
    if (fresh) this.#count++
    else bodies.splice(bodies.indexOf(kept), 1)
    bodies.unshift(kept)
    if (bodies.length > PER_NAME) this.#drop(bodies.pop())
    this.#byName.delete(name)
    this.#byName.set(name, bodies)
  }

  #dropOldest(): void {
    for (const [name, bodies] of this.#byName) {
      this.#drop(bodies.pop())
      if (bodies.length === 0) this.#byName.delete(name)
      return
    }
  }

  #drop(kept: KeptBody<State> | undefined): void {
    if (kept === undefined) return
    this.#count--
    this.#bytes -= kept.weight
    this.#release(kept.bytes)
  }

  #take(length: number): Buffer {
    let size = SMALLEST
    while (size < length) size *= 2
    this.#bytes += size
    const waiting = this.#free.get(size)?.pop()
    if (waiting === undefined) return Buffer.allocUnsafeSlow(size)
    this.#free_bytes -= size
    return waiting
  }

  #release(bytes: Buffer): void {
    const size = bytes.length
    if (size === 0) return
    this.#bytes -= size
    if (this.#free_bytes + size > FREE_LIMIT) return void free(bytes)
    const waiting = this.#free.get(size) ?? []
    this.#free.set(size, waiting)
    waiting.push(bytes)
    this.#free_bytes += size
  }
}

const EMPTY = Buffer.alloc(0)
