/** The text of a substitution `"$(…)"`. */
export interface Substitution {
  /** Offset after the opening bracket. */
  readonly start: number
  /** Offset of the closing bracket. */
  readonly end: number
  readonly within: readonly Substitution[]
}

/** There is no closing bracket. */
const NO_END = -1
const UNCLEAR = -2
const MAX_DEPTH = 50

/** Opening and closing marks of groups within double quotes. */
const CLOSING: Readonly<Record<string, string>> = { '$(': ')', '${': '}', '$[': ']' }

/** Finds the end of a group like Bash 3.2, the `sh` of macOS, which pairs brackets and quotes and ignores here-documents. */
class Pairing {
  readonly #text: string
  readonly #limit: number
  readonly #hasComments: boolean

  constructor(text: string, limit: number, hasComments: boolean) {
    this.#text = text
    this.#limit = limit
    this.#hasComments = hasComments
  }

  /** Offset of the closing mark of a group; `from` is the start of its text. */
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

  /** Last offset of a part that hides brackets. */
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

/** True for text in double quotes that runs nothing and does not end the quotes. */
const isPlain = (text: string): boolean => !/["`]|\$[({[]/.test(text)

/**
 * The end of a substitution in Bash 3.2. It searches for the end when it reads the text, and again, past comments,
 * when it runs it. Text after the end is quoted differently.
 */
const endOf = (text: string, { start, end }: Substitution, limit: number): number => {
  const read = new Pairing(text, limit, false).group(start, '(', ')')
  if (read > end) return UNCLEAR
  const run = read < 0 ? read : new Pairing(text, read + 1, true).group(start, '(', ')')
  return run === NO_END ? read : run
}

/** True if Bash 3.2 runs nothing that later versions treat as text. Bash 3.2 stops if it finds no end. */
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
