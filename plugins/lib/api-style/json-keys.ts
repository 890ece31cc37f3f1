const QUOTE = 34
const COLON = 58
const BACKSLASH = 92
const LETTER_U = 117
const BLANK = 32
const NOTHING: Uint8Array = new Uint8Array(0)

/**
 * Walks the member names of a JSON text, at any depth and in order, without building anything.
 * Made to tell in one pass whether a text is worth parsing; of broken JSON it may miss or invent names, and it never throws.
 */
export class KeyCursor {
  #bytes = NOTHING
  #at = 0
  #end = 0
  #name = 0
  #value = 0
  /** Length of the name in hand, in bytes as written. */
  length = 0

  open(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
  }

  /** Goes to the next name; false if there is none. */
  next(): boolean {
    const bytes = this.#bytes
    const end = this.#end
    let at = this.#at
    while (at < end) {
      if (bytes[at] !== QUOTE) {
        at++
        continue
      }
      const close = closingQuote(bytes, at + 1, end)
      const after = skipBlanks(bytes, close + 1, end)
      if (after < end && bytes[after] === COLON) {
        this.#name = at + 1
        this.length = close - at - 1
        this.#value = skipBlanks(bytes, after + 1, end)
        this.#at = this.#value
        return true
      }
      at = after
    }
    this.#at = end
    return false
  }

  /** Whether the name in hand is this one, which must be plain ASCII. */
  is(name: string): boolean {
    return this.length === name.length && this.#reads(this.#name, name)
  }

  isAmong(names: readonly string[]): boolean {
    for (const name of names) if (this.is(name)) return true
    return false
  }

  /** First byte of the value of the name in hand; 0 if there is none. */
  get first(): number {
    return this.#value < this.#end ? (this.#bytes[this.#value] ?? 0) : 0
  }

  /** Whether the value of the name in hand is a string that starts so, in plain ASCII. */
  begins(text: string): boolean {
    return this.first === QUOTE && this.#reads(this.#value + 1, text)
  }

  /** Whether the value of the name in hand is this string, in plain ASCII. */
  equals(text: string): boolean {
    return this.begins(text) && this.#bytes[this.#value + 1 + text.length] === QUOTE
  }

  equalsAmong(texts: readonly string[]): boolean {
    for (const text of texts) if (this.equals(text)) return true
    return false
  }

  /** Whether the value of the name in hand is a string that ends so, in plain ASCII. */
  ends(text: string): boolean {
    if (this.first !== QUOTE) return false
    const close = closingQuote(this.#bytes, this.#value + 1, this.#end)
    return close - text.length > this.#value && this.#reads(close - text.length, text)
  }

  /** UTF-8 bytes of the string that is the value, 0 for another value; a `\u` escape counts as three bytes. The cursor goes after it. */
  textBytes(): number {
    if (this.first !== QUOTE) return 0
    const bytes = this.#bytes
    const end = this.#end
    let at = this.#value + 1
    let saved = 0
    for (; at < end && bytes[at] !== QUOTE; at++) {
      if (bytes[at] !== BACKSLASH) continue
      at++
      saved += bytes[at] === LETTER_U ? 3 : 1
    }
    this.#at = at + 1
    return Math.max(0, Math.min(at, end) - this.#value - 1 - saved)
  }

  #reads(start: number, text: string): boolean {
    if (start + text.length > this.#end) return false
    for (let index = 0; index < text.length; index++)
      if (this.#bytes[start + index] !== text.charCodeAt(index)) return false
    return true
  }
}

const closingQuote = (bytes: Uint8Array, from: number, end: number): number => {
  let at = from
  while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

const skipBlanks = (bytes: Uint8Array, from: number, end: number): number => {
  let at = from
  while (at < end && (bytes[at] ?? 0) <= BLANK) at++
  return at
}
