import type { Substitution } from './bash-3-substitutions.ts'
import { type Heredoc, heredocBody, heredocStart } from './heredoc.ts'
import { readWord, Unreadable, type Word } from './word.ts'

/** A redirection of a command. */
export interface Redirect {
  readonly operator: string
  readonly target: Word
}

/** A command with its words and, separately, its redirections. */
export interface Command {
  readonly words: readonly Word[]
  readonly redirects: readonly Redirect[]
  /** Texts of its here-documents. */
  readonly inputs: readonly string[]
}

/** Separators of commands, longest first. */
const SEPARATOR = /&&|\|\||\|&|[;|\n()]|&(?!>)/y
const REDIRECT = /&>>|&>|<<<|<<|<&|<>|<|>>|>&|>\||>/y
const BLANKS = /(?:[ \t]|\\\n)+/y
const COMMENT = /#[^\n]*/y
/** One digit. Some shells treat a longer number as a word. */
const DESCRIPTOR = /[0-9](?=[<>])/y
const GROUP = /[{}!](?=[ \t\n;&|)]|$)/y
/** Maximum nesting of substitutions. */
const MAX_DEPTH = 8

const matched = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

interface Draft extends Command {
  readonly words: Word[]
  readonly redirects: Redirect[]
  readonly inputs: string[]
}

interface Lexed {
  readonly commands: readonly Command[]
  readonly substitutions: readonly Substitution[]
}

/**
 * Every command of a text in order, those in substitutions included. This lexer is a second opinion beside the
 * grammar: it knows only words and separators, and throws Unreadable for anything else.
 */
export const lex = (text: string): Lexed => {
  const lexer = new Lexer(text, 0, 0)
  lexer.run()
  return lexer
}

class Lexer implements Lexed {
  readonly commands: Draft[] = []
  readonly substitutions: Substitution[] = []
  at: number
  readonly #text: string
  /** 0 for the whole text, more within substitutions. */
  readonly #depth: number
  #current: Draft = { words: [], redirects: [], inputs: [] }
  #brackets = 0
  /** Here-documents with text after the current line. */
  #awaited: (Heredoc & { readonly command: Draft })[] = []

  constructor(text: string, at: number, depth: number) {
    this.#text = text
    this.at = at
    this.#depth = depth
  }

  /** Reads to the end of the text, or of the current substitution. */
  run(): void {
    while (this.at < this.#text.length && !this.#isClosed()) this.#step()
    if (this.#awaited.length > 0) throw new Unreadable('holds a here-document without its end')
    if (this.#depth > 0 && this.at >= this.#text.length) throw new Unreadable('holds a substitution without its end')
    this.#end()
  }

  #isClosed(): boolean {
    return this.#depth > 0 && this.#brackets === 0 && this.#text[this.at] === ')'
  }

  #end(): void {
    const { words, redirects, inputs } = this.#current
    if (words.length + redirects.length + inputs.length > 0) this.commands.push(this.#current)
    this.#current = { words: [], redirects: [], inputs: [] }
  }

  #step(): void {
    const blanks = matched(BLANKS, this.#text, this.at)
    const skipped = blanks ?? matched(COMMENT, this.#text, this.at)
    const separator = skipped === undefined ? matched(SEPARATOR, this.#text, this.at) : undefined
    if (skipped !== undefined) this.#pass(skipped.length)
    else if (separator !== undefined) this.#separate(separator)
    else this.#part()
  }

  /** A part across lines makes the start of a pending here-document ambiguous. */
  #pass(length: number): void {
    if (this.#awaited.length > 0 && this.#text.slice(this.at, this.at + length).includes('\n'))
      throw new Unreadable('holds a here-document that begins within a line')
    this.at += length
  }

  #separate(separator: string): void {
    checkSeparator(this.#text, this.at, separator, this.#current)
    this.#end()
    if (separator === '(') this.#brackets++
    if (separator === ')') this.#brackets--
    this.at += separator.length
    if (separator === '\n') this.#bodies()
  }

  #bodies(): void {
    for (const { command, ...heredoc } of this.#awaited) {
      const { body, end } = heredocBody(this.#text, this.at, heredoc, this.#depth > 0)
      command.inputs.push(body)
      this.at = end
    }
    this.#awaited = []
  }

  /** Reads a redirection, a group mark or a word. */
  #part(): void {
    const from = this.at + (matched(DESCRIPTOR, this.#text, this.at)?.length ?? 0)
    const operator = matched(REDIRECT, this.#text, from)
    if (operator !== undefined) this.#redirect(from, operator)
    else if (this.#current.words.length === 0 && matched(GROUP, this.#text, this.at) !== undefined) this.at++
    else this.#add(this.#word(this.at))
  }

  /** Only Bash knows `&>`. For other shells the command ends there, and the next one starts. */
  #add(word: Word): void {
    if (this.#current.redirects.some(({ operator }) => operator.startsWith('&>')))
      throw new Unreadable('has words behind &>, which some shells take for a command of their own')
    this.#current.words.push(word)
  }

  #word(start: number): Word {
    const word = readWord(this.#text, start, (at) => this.#substitution(at))
    this.at = start
    this.#pass(word.end - start)
    return word
  }

  /** Reads the commands of a substitution; `at` is the start of its text. Returns the offset of its closing bracket. */
  #substitution(at: number): number {
    if (this.#depth === MAX_DEPTH) throw new Unreadable('holds substitutions within substitutions')
    const inner = new Lexer(this.#text, at, this.#depth + 1)
    inner.run()
    if (!inner.commands.some(({ words }) => words.length > 0))
      throw new Unreadable('holds a substitution without a command')
    this.commands.push(...inner.commands)
    this.substitutions.push({ start: at, end: inner.at, within: inner.substitutions })
    return inner.at
  }

  #redirect(from: number, operator: string): void {
    const afterOperator = from + operator.length
    if (operator.startsWith('<<')) {
      const heredoc = from === this.at ? heredocStart(this.#text, from) : undefined
      if (heredoc === undefined) throw new Unreadable('holds a here-document')
      this.#awaited.push({ ...heredoc, command: this.#current })
      this.at = heredoc.end
      return
    }
    if (this.#text[afterOperator] === '(') throw new Unreadable('holds a process substitution')
    const at = afterOperator + (matched(BLANKS, this.#text, afterOperator)?.length ?? 0)
    const target = this.#word(at)
    if (target.end === at) throw new Unreadable('has a redirection without a target')
    this.#current.redirects.push({ operator, target })
  }
}

const checkSeparator = (text: string, at: number, separator: string, current: Draft): void => {
  const next = text[at + separator.length]
  if (separator === ';' && (next === ';' || next === '&')) throw new Unreadable('holds a case')
  if (separator !== '(') return
  if (next === '(') throw new Unreadable('holds arithmetic')
  if (current.words.length + current.redirects.length + current.inputs.length > 0)
    throw new Unreadable('holds a function or a pattern')
}
