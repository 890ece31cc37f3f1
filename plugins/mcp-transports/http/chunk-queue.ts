import type { Readable } from 'node:stream'
import { type BodyReader, type PushedBody, readInto } from 'guard-gateway/core'

/** The most unread bytes before the sender is paused. */
const MAX_WAITING = 65_536

/** A body that is taken piece by piece: nothing is read far ahead of who takes it. */
export class ChunkQueue implements BodyReader {
  readonly #body: Readable | PushedBody
  readonly #over: () => void
  #waiting: Buffer[] = []
  #bytes = 0
  #isPaused = false
  #isWhole = false
  #fault: Error | undefined
  #wake: (() => void) | undefined

  /** `over` is called when the body has ended, however it ended. */
  constructor(body: Readable | PushedBody, over: () => void) {
    this.#body = body
    this.#over = over
  }

  /** Takes what comes from now on; done once. */
  begin(): this {
    readInto(this.#body, this)
    return this
  }

  data(chunk: Uint8Array): void {
    this.#waiting.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    this.#bytes += chunk.length
    if (this.#bytes >= MAX_WAITING && !this.#isPaused) {
      this.#isPaused = true
      this.#body.pause()
    }
    this.#wake?.()
  }

  end(): void {
    this.#isWhole = this.#fault === undefined
    this.#ended()
  }

  cut(): void {
    if (!this.#isWhole) this.#fault ??= new Error('The answer broke off.')
    this.#ended()
  }

  /** Discards the body; its reader gets this error, or the end if there is none. */
  stop(fault?: Error): void {
    if (this.#isOver) return
    this.#fault = fault
    this.#isWhole = fault === undefined
    this.#body.destroy()
    this.#ended()
  }

  /** The pieces to the end. Throws if it broke off or was given up; who leaves before the end gives it up. */
  async *read(): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        yield* this.#taken()
        if (this.#waiting.length > 0) continue
        if (this.#fault !== undefined) throw this.#fault
        if (this.#isWhole) return
        await this.#more()
      }
    } finally {
      this.stop()
    }
  }

  get #isOver(): boolean {
    return this.#isWhole || this.#fault !== undefined
  }

  #ended(): void {
    this.#over()
    this.#wake?.()
  }

  #taken(): readonly Buffer[] {
    const taken = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    return taken
  }

  async #more(): Promise<void> {
    if (this.#isPaused) {
      this.#isPaused = false
      this.#body.resume()
    }
    // what the sender had ready is read at once
    if (this.#waiting.length > 0 || this.#isOver) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }
}
