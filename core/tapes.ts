const SMALLEST = 4096
const BYTE_LIMIT = 64 * 1024 * 1024
const COUNT_LIMIT = 4096
/** Bodies kept under one name: several conversations may share a session. */
const PER_NAME = 16

/** One request body remembered in a reused buffer, with what its reader made of it. */
export interface Tape<State> {
  bytes: Buffer
  state: State
}

/** Earlier request bodies by name, least recently used first out; at most 64 MiB and 4,096 bodies. */
export class Tapes<State> {
  readonly #byName = new Map<string, Tape<State>[]>()
  readonly #free = new Map<number, Buffer[]>()
  #bytes = 0
  #count = 0

  /** Those kept under this name, the latest first. */
  named(name: string): readonly Tape<State>[] {
    return this.#byName.get(name) ?? []
  }

  /** Copies a body; `reuse`, one of those named so, then holds it instead of its own. */
  keep(name: string, body: Buffer, state: State, reuse: Tape<State> | undefined): void {
    if (body.length > BYTE_LIMIT / 8) return
    const tape = reuse ?? { bytes: EMPTY, state }
    if (tape.bytes.length < body.length) {
      this.#release(tape.bytes)
      tape.bytes = this.#take(body.length)
    }
    body.copy(tape.bytes)
    tape.state = state
    this.#file(name, tape, reuse === undefined)
    while (this.#bytes > BYTE_LIMIT || this.#count > COUNT_LIMIT) this.#dropOldest()
  }

  #file(name: string, tape: Tape<State>, fresh: boolean): void {
    const tapes = this.#byName.get(name) ?? []
    if (fresh) this.#count++
    else tapes.splice(tapes.indexOf(tape), 1)
    tapes.unshift(tape)
    if (tapes.length > PER_NAME) this.#drop(tapes.pop())
    this.#byName.delete(name)
    this.#byName.set(name, tapes)
  }

  #dropOldest(): void {
    for (const [name, tapes] of this.#byName) {
      this.#drop(tapes.pop())
      if (tapes.length === 0) this.#byName.delete(name)
      return
    }
  }

  #drop(tape: Tape<State> | undefined): void {
    if (tape === undefined) return
    this.#count--
    this.#release(tape.bytes)
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
