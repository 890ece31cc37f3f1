const MAX_CHARS = 128
const OTHER = 'other'

/** Words that come from outside as label values: redacted, cut, and at most so many different ones; the rest are `other`. */
export class LabelValues {
  readonly #max: number
  readonly #redact: (text: string) => string
  readonly #known = new Map<string, string>()

  constructor(max: number, redact: (text: string) => string) {
    this.#max = max
    this.#redact = redact
  }

  of(text: string): string {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    if (this.#known.size >= this.#max || text.length > MAX_CHARS) return OTHER
    const label = this.#redact(text).replaceAll('\u0000', '').toWellFormed()
    this.#known.set(text, label)
    return label
  }
}
