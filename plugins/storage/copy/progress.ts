import type { Input, Io } from 'guard-gateway/lib/command'
import { durationText, groupedText } from 'guard-gateway/lib/format'

/** Milliseconds between two lines; a terminal's line is drawn anew more often. */
const EVERY_MS = 5_000
const REDRAW_MS = 200

/** Says how far a copy is: rows, rows a second, and how long the rest takes. */
export class Progress {
  readonly #io: Io
  readonly #shown: boolean
  readonly #inPlace: boolean
  readonly #now: () => number
  #what = ''
  #total = 0
  #rows = 0
  #began = 0
  #next = 0
  #drawn = false

  /** `now` in milliseconds. */
  constructor({ options }: Pick<Input, 'options'>, io: Io, now = () => performance.now()) {
    this.#io = io
    this.#shown = options.quiet !== true && options.progress !== false
    this.#inPlace = (io.err as { readonly isTTY?: boolean }).isTTY === true && io.env.TERM !== 'dumb'
    this.#now = now
  }

  /** Begins to count rows of one kind of work. */
  begin(what: string, total: number): void {
    this.end()
    this.#what = what
    this.#total = total
    this.#rows = 0
    this.#began = this.#now()
    this.#next = this.#began + (this.#inPlace ? REDRAW_MS : EVERY_MS)
  }

  readonly add = (rows: number): void => {
    this.#rows += rows
    if (!this.#shown) return
    const now = this.#now()
    if (now < this.#next) return
    this.#next = now + (this.#inPlace ? REDRAW_MS : EVERY_MS)
    this.#drawn = this.#inPlace
    this.#io.err.write(this.#inPlace ? `\r${this.#line(now)}\u001b[K` : `${this.#line(now)}\n`)
  }

  /** Erases the line of a terminal. */
  end(): void {
    if (this.#drawn) this.#io.err.write('\r\u001b[K')
    this.#drawn = false
  }

  #line(now: number): string {
    const seconds = Math.max(0.001, (now - this.#began) / 1_000)
    const rate = this.#rows / seconds
    const rest = durationText(Math.max(0, (this.#total - this.#rows) / rate) * 1e9)
    const done = `${groupedText(this.#rows)} of ${groupedText(this.#total)} rows`
    return `${this.#what}: ${done}, ${groupedText(Math.round(rate))}/s, about ${rest} left`
  }
}
