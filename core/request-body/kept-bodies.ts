const SMALLEST = 4096
const BYTE_LIMIT = 64 * 1024 * 1024
const COUNT_LIMIT = 4096
/** Bodies kept under one name: several conversations may share a session. */
const PER_NAME = 16

/** One request body remembered in a reused buffer, with what its reader made of it. */
export interface KeptBody<State> {
  /** As long as the body, or longer. */
  bytes: Buffer
  length: number
  state: State
}

/** Earlier request bodies by name, least recently used first out; at most 64 MiB and 4,096 bodies. */
export class KeptBodies<State> {
  readonly #byName = new Map<string, KeptBody<State>[]>()
  readonly #free = new Map<number, Buffer[]>()
  #bytes = 0
  #count = 0

  /** Those kept under this name, the latest first. */
  named(name: string): readonly KeptBody<State>[] {
    return this.#byName.get(name) ?? []
  }

  /** Copies a body; `reuse`, one of those named so, then holds it instead of its own. */
  keep(name: string, body: Buffer, state: State, reuse: KeptBody<State> | undefined): void {
    if (body.length > BYTE_LIMIT / 8) return
    const kept = reuse ?? { bytes: EMPTY, length: 0, state }
    if (kept.bytes.length < body.length) {
      this.#release(kept.bytes)
      kept.bytes = this.#take(body.length)
    }
    body.copy(kept.bytes)
    kept.length = body.length
    kept.state = state
    this.#file(name, kept, reuse === undefined)
    while (this.#bytes > BYTE_LIMIT || this.#count > COUNT_LIMIT) this.#dropOldest()
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
    this.#release(kept.bytes)
  }

  #take(length: number): Buffer {
    let size = SMALLEST
    while (size < length) size *= 2
    this.#bytes += size
    return this.#free.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size)
  }

  #release(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#bytes -= bytes.length
    const free = this.#free.get(bytes.length) ?? []
    this.#free.set(bytes.length, free)
    if (free.length < 8) free.push(bytes)
  }
}

const EMPTY = Buffer.alloc(0)
