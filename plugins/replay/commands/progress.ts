import type { Input, Io } from '#lib/command'
import { bytesText } from '#lib/format'
import { isTerminal, symbolsOf, type TerminalSymbols } from './terminal.ts'

const FIRST_MS = 300
const EVERY_MS = 100
const BAR_CELLS = 20

/** Progress on a terminal line, which is erased at the end; nothing without a terminal. */
export class Progress {
  readonly #label: string
  readonly #total: number | undefined
  readonly #err: NodeJS.WritableStream
  readonly #signs: TerminalSymbols
  readonly #now: () => number
  readonly #began: number
  readonly #enabled: boolean
  #next: number
  #bytes = 0
  #drawn = false

  /** `total` in bytes, if known; `now` in milliseconds. */
  constructor(label: string, total: number | undefined, { options }: Input, io: Io, now = () => performance.now()) {
    this.#label = label
    this.#total = total
    this.#err = io.err
    this.#signs = symbolsOf(io)
    this.#now = now
    this.#began = now()
    this.#next = this.#began + FIRST_MS
    const off = options.quiet === true || options.json === true || options.progress === false || Boolean(io.env.CI)
    this.#enabled = !off && isTerminal(io.err) && io.env.TERM !== 'dumb'
  }

  add(bytes: number): void {
    this.#bytes += bytes
    if (!this.#enabled) return
    const now = this.#now()
    if (now < this.#next) return
    this.#next = now + EVERY_MS
    this.#drawn = true
    this.#err.write(`\r${this.#line(now)}\u001b[K`)
  }

  done(): void {
    if (this.#drawn) this.#err.write('\r\u001b[K')
    this.#drawn = false
  }

  /** Counts chunks as they pass. */
  async *counted(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array | string> {
    for await (const chunk of chunks) {
      this.add(chunk.length)
      yield chunk
    }
  }

  #line(now: number): string {
    const done = bytesText(this.#bytes)
    if (this.#total === undefined || this.#total === 0) return `${this.#label} ${done}`
    const part = Math.min(this.#bytes / this.#total, 1)
    const { left, full, empty, right } = this.#signs
    const cells = Math.floor(part * BAR_CELLS)
    const bar = left + full.repeat(cells) + empty.repeat(BAR_CELLS - cells) + right
    const left_s = Math.ceil(((now - this.#began) * (1 / part - 1)) / 1_000)
    const percent = `${Math.floor(part * 100)}%`
    return `${this.#label} ${bar} ${percent}  ${done}/${bytesText(this.#total)}  ${left_s}s left`
  }
}
