/** What is within `"$(…)"`. */
export interface Substitution {
  /** Behind the bracket that opens it. */
  readonly start: number
  /** Of the bracket that closes it. */
  readonly end: number
  readonly within: readonly Substitution[]
}

/** No bracket closes it. */
const NO_END = -1
const UNCLEAR = -2
const MAX_DEPTH = 50

/** What opens a group within double quotes, and what closes it. */
const CLOSING: Readonly<Record<string, string>> = { '$(': ')', '${': '}', '$[': ']' }

/** Reads as Bash 3.2 does, the `sh` of macOS: it pairs brackets and quotes alone, and knows of no here-document. */
class Pairing {
  readonly #text: string
  readonly #limit: number
  readonly #hasComments: boolean

  constructor(text: string, limit: number, hasComments: boolean) {
    this.#text = text
    this.#limit = limit
    this.#hasComments = hasComments
  }

  /** Where a group ends whose text starts at an offset. */
  group(from: number, opening: string, closing: string, depth = 0): number {
    if (depth > MAX_DEPTH) return UNCLEAR
    let open = 1
    for (let at = from; at < this.#limit; at++) {
      if (this.#text[at] === closing && --open === 0) return at
      if (this.#text.startsWith(opening, at)) open++
      at = this.#passed(at, depth)
      if (at < 0) return at
    }
    return NO_END
  }

  /** The last offset of what starts here and hides brackets. */
  #passed(at: number, depth: number): number {
    const one = this.#text[at]
    const next = this.#text[at + 1]
    if (one === '\\') return at + 1
    if (one === "'" || one === '`') return this.#quoted(at + 1, one)
    if (one === '"') return this.#double(at + 1, depth)
    if (one === '$' && (next === "'" || next === '"')) return UNCLEAR
    return one === '#' && this.#hasComments && /\s/.test(this.#text[at - 1] ?? '') ? this.#comment(at) : at
  }

  #comment(at: number): number {
    const end = this.#text.indexOf('\n', at)
    return end === -1 ? this.#limit : end
  }

  #quoted(from: number, mark: "'" | '`'): number {
    for (let at = from; at < this.#limit; at++) {
      if (this.#text[at] === mark) return at
      if (mark === '`' && this.#text[at] === '\\') at++
    }
    return NO_END
  }

  #double(from: number, depth: number): number {
    for (let at = from; at < this.#limit; at++) {
      if (this.#text[at] === '"') return at
      at = this.#passedInDouble(at, depth)
      if (at < 0) return at
    }
    return NO_END
  }

  #passedInDouble(at: number, depth: number): number {
    const one = this.#text[at]
    if (one === '\\') return at + 1
    if (one === '`') return this.#quoted(at + 1, one)
    const opening = this.#text.slice(at, at + 2)
    const closing = CLOSING[opening]
    if (closing === undefined) return at
    return this.group(at + 2, opening === '${' ? opening : opening.slice(1), closing, depth + 1)
  }
}

/** Text in double quotes that runs nothing and does not end them. */
const isPlain = (text: string): boolean => !/["`]|\$[({[]/.test(text)

/**
 * Where it ends a substitution: it looks when it reads a text, and again when it runs it, then past comments. What it reads
 * beyond the end is quoted otherwise.
 */
const endOf = (text: string, { start, end }: Substitution, limit: number): number => {
  const read = new Pairing(text, limit, false).group(start, '(', ')')
  if (read > end) return UNCLEAR
  const run = read < 0 ? read : new Pairing(text, read + 1, true).group(start, '(', ')')
  return run === NO_END ? read : run
}

/** Whether Bash 3.2 runs nothing of a text that later versions take for something else. Where it finds no end it stops. */
export const endsAlikeInBash3 = (
  text: string,
  substitutions: readonly Substitution[],
  limit: number = text.length,
): boolean => {
  for (const substitution of substitutions) {
    const found = endOf(text, substitution, limit)
    if (found === NO_END) return true
    if (found === UNCLEAR || !isPlain(text.slice(found, substitution.end))) return false
    if (!endsAlikeInBash3(text, substitution.within, found)) return false
  }
  return true
}
