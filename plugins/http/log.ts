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
const GATHER_LINES = 64

interface Line {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly level: Level
  readonly fields: LogFields
}

/** One JSON line an event. Lines are gathered for a moment and made into text together, so that they cost little a request; errors go out at once. */
export class Log {
  readonly #target: LogTarget
  readonly #now: () => number
  #lines: Line[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(target: LogTarget, now: () => number) {
    this.#target = target
    this.#now = now
  }

  line(level: Level, fields: LogFields): void {
    const count = this.#lines.push({ at: this.#now(), level, fields })
    if (level === 'error' || count >= GATHER_LINES) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), GATHER_MS)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#lines
    if (lines.length === 0) return
    this.#lines = []
    this.#target.write(textOf(lines))
  }
}

const textOf = (lines: readonly Line[]): string => {
  let text = ''
  let lastSecond = Number.NaN
  let begun = ''
  for (const { at, level, fields } of lines) {
    const second = Math.floor(at / 1000)
    if (second !== lastSecond) {
      lastSecond = second
      begun = new Date(at).toISOString().slice(0, -4)
    }
    const time = `${begun}${String(at - second * 1000).padStart(3, '0')}Z`
    // no line is without fields
    text += `{"time":"${time}","level":"${level}",${JSON.stringify(fields).slice(1)}\n`
  }
  return text
}
