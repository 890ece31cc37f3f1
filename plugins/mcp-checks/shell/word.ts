/** A word of a command after word splitting. */
export interface Word {
  /** Offsets in the text; `end` is exclusive. */
  readonly start: number
  readonly end: number
  /** The value without quotes. Undefined for a dynamic word, with a parameter, a file pattern or a home folder. */
  readonly literal: string | undefined
  /** The value with empty substitutions. Patterns stay as written. */
  readonly text: string
  /** Names of its parameters. */
  readonly variables: readonly string[]
}

/** Characters that end a word outside of quotes. */
const METACHARACTER = /[ \t\n;&|()<>]/

/** A name that continues after a backslash and a line break does not match. */
const PARAMETER = /\$(?:([A-Za-z_]\w*)(?!\w|(?:\\\n)+\w)|\{([A-Za-z_]\w*)\})/y

/** Characters after a literal dollar. A continued line could name a parameter, so it does not match. */
const LONE_DOLLAR = /^(?:[ \t\n"/.,:;)|&<>=%+\]^~]|\\(?!\n))/

/** Letters, marks and digits beyond ASCII. */
const LETTERS = /^(?:(?=[^\0-~])[\p{L}\p{M}\p{N}])+/u

/** The reason why a text is not statically readable, as the end of a sentence about it. */
export class Unreadable extends Error {}

/** Reads the commands of a substitution from an offset. Returns the offset of its closing bracket. */
export type Substitution = (at: number) => number

/** Reads a word at an offset by the rules of Bash. Throws Unreadable for parts that need a running shell. */
export const readWord = (text: string, start: number, substitution: Substitution): Word => {
  const reader = new WordReader(text, start, substitution)
  reader.read()
  const { at: end, isLiteral, value, variables } = reader
  return { start, end, literal: isLiteral ? value : undefined, text: value, variables }
}

class WordReader {
  readonly text: string
  readonly variables: string[] = []
  at: number
  value = ''
  isLiteral = true
  readonly #substitution: Substitution
  #braces = 0

  constructor(text: string, start: number, substitution: Substitution) {
    this.text = text
    this.#substitution = substitution
    this.at = start
    if (text[start] === '~') this.isLiteral = false
  }

  read(): void {
    const start = this.at
    for (let one = this.text[this.at]; one !== undefined && !METACHARACTER.test(one); one = this.text[this.at])
      this.#step(one)
    if (this.#braces > 0) throw new Unreadable('holds braces outside of quotes')
    if (/^\{[^}]+\}[<>]$/.test(this.text.slice(start, this.at + 1)))
      throw new Unreadable('writes the number of a descriptor to a variable')
  }

  #step(one: string): void {
    if (one === "'") this.#single()
    else if (one === '"') this.#double()
    else if (one === '\\') this.#escape()
    else if (one === '$') this.#parameter(true)
    else if (one > '~') this.#letters()
    else this.#plain(one)
  }

  #plain(one: string): void {
    if (one === '`') throw new Unreadable('holds a command substitution')
    if (one === '{' || one === '}') this.#brace(one)
    // braces without a list are literals
    if (this.#braces > 0 && (one === ',' || (one === '.' && this.value.endsWith('.'))))
      throw new Unreadable('holds a list in braces outside of quotes')
    if (one === '*' || one === '?' || one === '[') this.isLiteral = false
    this.value += one
    this.at++
  }

  /** Accepts pairs only. An unmatched brace may end a group. */
  #brace(one: '{' | '}'): void {
    this.#braces += one === '{' ? 1 : -1
    if (this.#braces < 0) throw new Unreadable('holds braces outside of quotes')
  }

  /** Reads letters of other alphabets. Look-alikes of punctuation and of other letters are refused. */
  #letters(): void {
    const one = LETTERS.exec(this.text.slice(this.at, this.at + 64))?.[0] ?? ''
    if (one === '' || one.normalize('NFKC') !== one.normalize('NFC'))
      throw new Unreadable('holds characters outside of quotes that are not ASCII letters or those of another alphabet')
    this.isLiteral = false
    this.value += one
    this.at += one.length
  }

  #single(): void {
    const end = this.text.indexOf("'", this.at + 1)
    if (end === -1) throw new Unreadable('has a quote without its end')
    this.value += this.text.slice(this.at + 1, end)
    this.at = end + 1
  }

  #double(): void {
    this.at++
    for (let one = this.text[this.at]; one !== '"'; one = this.text[this.at]) {
      if (one === undefined) throw new Unreadable('has a quote without its end')
      if (one === '`') throw new Unreadable('holds a command substitution')
      if (one === '$') this.#inDouble()
      else if (one === '\\') this.#escapeInDouble()
      else {
        this.value += one
        this.at++
      }
    }
    this.at++
  }

  #inDouble(): void {
    if (this.text[this.at + 1] === '(' && this.text[this.at + 2] !== '(') this.#commands()
    else this.#parameter(false)
  }

  /** Within double quotes the output of commands stays part of one word. */
  #commands(): void {
    this.at = this.#substitution(this.at + 2) + 1
    this.isLiteral = false
  }

  #escape(): void {
    const next = this.text[this.at + 1]
    if (next === undefined) throw new Unreadable('ends in a backslash')
    if (next > '~') throw new Unreadable('holds characters outside of quotes that are not ASCII')
    if (next !== '\n') this.value += next
    this.at += 2
  }

  #escapeInDouble(): void {
    const next = this.text[this.at + 1]
    if (next === undefined) throw new Unreadable('has a quote without its end')
    if (next !== '\n') this.value += /[$`"\\]/.test(next) ? next : `\\${next}`
    this.at += 2
  }

  #parameter(outside: boolean): void {
    PARAMETER.lastIndex = this.at
    const found = PARAMETER.exec(this.text)
    const name = found?.[1] ?? found?.[2]
    const next = this.text[this.at + 1]
    if (found !== null && name !== undefined) {
      this.variables.push(name)
      this.isLiteral = false
      this.at += found[0].length
      return
    }
    if (
      next !== undefined &&
      !(LONE_DOLLAR.test(this.text.slice(this.at + 1, this.at + 3)) && !(outside && next === '"'))
    )
      throw new Unreadable('holds an expansion or substitution')
    this.value += '$'
    this.at++
  }
}
