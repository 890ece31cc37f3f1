/** What a log line may hold, and nothing else: no header, no body, no query, no full address. Durations in milliseconds. */
export interface LogFields {
  readonly request_id?: string
  readonly method?: string
  readonly route?: string
  readonly status?: number
  readonly duration_ms?: number
  readonly bytes_in?: number
  readonly bytes_out?: number
  readonly decision?: string
  readonly reason?: string | null
  readonly outcome?: string
  readonly upstream?: string | null
  readonly code?: string
  readonly fault?: string
  readonly message?: string
  /** Places in the code, the innermost first. */
  readonly stack?: readonly string[]
}

export type Level = 'info' | 'warn' | 'error'

/** Where lines go: standard error, or a test's list. */
export interface LogTarget {
  write(text: string): unknown
}

const GATHER_MS = 50
const GATHER_CHARS = 16_384

/** One JSON line an event. Lines are gathered for a moment, so that writing costs little a request; errors go out at once. */
export class Log {
  readonly #target: LogTarget
  readonly #now: () => number
  #text = ''
  #at = Number.NaN
  #shown = ''
  #timer: NodeJS.Timeout | undefined

  constructor(target: LogTarget, now: () => number) {
    this.#target = target
    this.#now = now
  }

  line(level: Level, fields: LogFields): void {
    this.#text += `${JSON.stringify({ time: this.#time(), level, ...fields })}\n`
    if (level === 'error' || this.#text.length > GATHER_CHARS) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), GATHER_MS)
  }

  /** Many lines are written in one millisecond. */
  #time(): string {
    const now = this.#now()
    if (now !== this.#at) {
      this.#at = now
      this.#shown = new Date(now).toISOString()
    }
    return this.#shown
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const text = this.#text
    this.#text = ''
    if (text !== '') this.#target.write(text)
  }
}
