import type { Finder, Secrets } from 'guard-gateway/core'

/** Values shorter than this are compared whole: as part of other text they would be found everywhere. */
const MIN_INSIDE = 8
/** Size of the table of skips, one entry a pair of characters. */
const PAIRS = 16_384

/** Recognises each credential also in base64 (at any offset, both alphabets) and percent-encoded. */
export class SecretFinder implements Secrets {
  /** Whole texts that are a credential too short to be looked for inside others. */
  readonly #whole = new Set<string>()
  #longestWhole = 0
  /** Forms by the pair of characters that ends their first `MIN_INSIDE`. */
  readonly #forms = new Map<number, string[]>()
  /** How far the search may step on, by the pair of characters it looks at; 0: some form may end here. */
  readonly #skips = new Uint8Array(PAIRS).fill(MIN_INSIDE - 1)
  #any = false

  add(value: string): void {
    if (value === '') return
    if (value.length < MIN_INSIDE) {
      for (const form of [value, base64(value), base64url(value), percent(value)]) this.#addWhole(form)
      return
    }
    for (const form of formsOf(value)) this.#addForm(form)
    this.#any = true
  }

  holds(text: string): boolean {
    if (this.find(text, 0) !== undefined || this.#isWhole(afterScheme(text))) return true
    return text.includes('%') && this.find(unpercent(text), 0) !== undefined
  }

  /** Steps over most characters without reading them. */
  readonly find: Finder = (text, from) => {
    if (from === 0 && this.#isWhole(text)) return [0, text.length]
    if (!this.#any) return undefined
    let end = from + MIN_INSIDE
    while (end <= text.length) {
      const pair = pairAt(text, end - 2)
      const skip = this.#skips[pair] ?? 0
      if (skip > 0) end += skip
      else {
        const form = this.#formAt(text, end - MIN_INSIDE, pair)
        if (form !== undefined) return [end - MIN_INSIDE, end - MIN_INSIDE + form.length]
        end++
      }
    }
    return undefined
  }

  #isWhole(text: string): boolean {
    return text.length <= this.#longestWhole && this.#whole.has(text)
  }

  /** The longest form that stands at `start`. */
  #formAt(text: string, start: number, pair: number): string | undefined {
    return this.#forms.get(pair)?.find((form) => text.startsWith(form, start))
  }

  #addWhole(form: string): void {
    this.#whole.add(form)
    this.#longestWhole = Math.max(this.#longestWhole, form.length)
  }

  #addForm(form: string): void {
    const last = pairAt(form, MIN_INSIDE - 2)
    const bucket = this.#forms.get(last) ?? []
    if (bucket.includes(form)) return
    this.#forms.set(
      last,
      [...bucket, form].sort((a, b) => b.length - a.length),
    )
    for (let at = 0; at <= MIN_INSIDE - 2; at++) {
      const pair = pairAt(form, at)
      this.#skips[pair] = Math.min(this.#skips[pair] ?? 0, MIN_INSIDE - 2 - at)
    }
  }
}

const pairAt = (text: string, at: number): number =>
  ((text.charCodeAt(at) << 7) ^ text.charCodeAt(at + 1)) & (PAIRS - 1)

/** What follows the scheme word of an authorization value; the whole text if there is none. */
const afterScheme = (text: string): string => text.slice(text.indexOf(' ') + 1)

const formsOf = (value: string): readonly string[] => {
  const bytes = Buffer.from(value)
  const coded = [0, 1, 2].map((offset) => base64Inside(bytes, offset))
  const escaped = percent(value)
  const json = JSON.stringify(value).slice(1, -1)
  return [
    value,
    ...coded,
    ...coded.map(toUrlAlphabet),
    escaped,
    escaped.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    json,
  ]
}

const base64 = (value: string): string => Buffer.from(value).toString('base64')
const base64url = (value: string): string => Buffer.from(value).toString('base64url')
const toUrlAlphabet = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_')

/** The base64 digits that depend on `bytes` alone when `offset` other bytes of their group stand before them. */
const base64Inside = (bytes: Buffer, offset: number): string => {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  const first = Math.ceil((offset * 8) / 6)
  return text.slice(first, Math.floor(((offset + bytes.length) * 8) / 6))
}

const percent = (value: string): string => encodeURIComponent(value.toWellFormed())

/** Percent-decodes what can be decoded, a byte a pair of digits, and leaves the rest. */
const unpercent = (text: string): string =>
  Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    'latin1',
  ).toString()
