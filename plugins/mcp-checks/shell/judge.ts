import type { Violation } from 'guard-gateway/lib/check-arguments'
import { quoted } from 'guard-gateway/lib/text'
import { endsAlikeInBash3, type Substitution } from './bash-3-substitutions.ts'
import { outline } from './grammar.ts'
import { type Heredoc, heredocBody, heredocStart, withoutFirstBackslash } from './heredoc.ts'
import { named, programName } from './program.ts'
import { type Allowed, type CommandRules, rulesOf } from './rules.ts'
import { readersOf, readsCommands } from './script-inputs.ts'
import { readWord, Unreadable, type Word } from './word.ts'

const MAX_LENGTH = 65_536
const MAX_WORDS = 65_536

export interface CheckOptions {
  args: string[]
  allow?: Allowed[]
  deny?: string[]
  redirects?: boolean
  variables?: string[]
  optional?: boolean
}

/** Rules by their options. */
const compiled = new WeakMap<CheckOptions, CommandRules>()

const compiledRules = (options: CheckOptions): CommandRules => {
  const known = compiled.get(options)
  if (known !== undefined) return known
  const made = rulesOf(options)
  compiled.set(options, made)
  return made
}

const certainly = (reason: string | undefined): Violation | undefined =>
  reason === undefined ? undefined : { reason, certain: true }

/** The violation of a value. The grammar must be loaded. `mayBeOld`: the target's `sh` may be Bash 3.2. */
export const violationIn = (value: unknown, options: CheckOptions, mayBeOld: boolean): Violation | undefined => {
  if (value === undefined) return options.optional === true ? undefined : certainly('is missing')
  const rules = compiledRules(options)
  if (typeof value === 'string') return ofText(value, options, rules, mayBeOld)
  if (!Array.isArray(value)) return certainly('must be a string or a list of strings')
  if (value.length > MAX_WORDS) return { reason: `is over ${MAX_WORDS} words long`, certain: false }
  return certainly(ofWords(value, rules))
}

const CONTROL = /[\p{Cc}--[\t\n]]/v

/** A list of words that is run without a shell. */
const ofWords = (words: readonly unknown[], rules: CommandRules): string | undefined => {
  if (words.length === 0) return 'holds no command'
  if (!words.every((word) => typeof word === 'string')) return 'must be a string or a list of strings'
  return words.some((word) => CONTROL.test(word)) ? 'holds a control character' : rules(words)
}

const ofText = (text: string, options: CheckOptions, rules: CommandRules, mayBeOld: boolean): Violation | undefined => {
  if (text.length > MAX_LENGTH) return { reason: `is over ${MAX_LENGTH} characters long`, certain: false }
  if (CONTROL.test(text)) return certainly('holds a control character')
  const commands = read(text, mayBeOld)
  if (typeof commands === 'string') return { reason: commands, certain: false }
  if (!commands.some(({ words }) => words.length > 0)) return certainly('holds no command')
  const readers = readersOf(text.includes('|') ? commands.flatMap(possibleOutput) : [])
  for (const command of commands) {
    const reason = ofCommand(command, readers, options, rules)
    if (reason !== undefined) return certainly(reason)
  }
  return undefined
}

/** The commands of a text, if the grammar and the lexer agree on them. `mayBeOld`: also if Bash 3.2, the `sh` of macOS, agrees. */
const read = (text: string, mayBeOld: boolean): readonly Command[] | string => {
  try {
    const { commands, substitutions } = lex(text)
    if (mayBeOld && !endsAlikeInBash3(text, substitutions))
      return 'holds a substitution that Bash 3.2 (macOS) ends elsewhere than later versions do'
    return agrees(commands, text) ? commands : 'is not wholly known before it runs'
  } catch (error) {
    if (error instanceof Unreadable) return error.message
    throw error
  }
}

/** The grammar omits a single dash before a here-document. */
const isLostDash = ({ start, end }: Word, text: string): boolean =>
  end - start === 1 && text[start] === '-' && /^[ \t]+<</.test(text.slice(end, end + 64))

const agrees = (commands: readonly Command[], text: string): boolean => {
  const seen = outline(withoutFirstBackslash(text))
  if (seen === undefined) return false
  const words = commands
    .flatMap(({ words, redirects }) => [...words, ...redirects.map(({ target }) => target)])
    .filter((word) => !isLostDash(word, text))
    .sort((left, right) => left.start - right.start)
  const starts = commands
    .flatMap(({ words: [first] }) => (first === undefined ? [] : [first.start]))
    .sort((left, right) => left - right)
  return (
    words.length === seen.words.length &&
    words.every(({ start, end }, index) => seen.words[index] === `${start}:${end}`) &&
    starts.length === seen.commands.length &&
    starts.every((start, index) => seen.commands[index] === start)
  )
}

const ofCommand = (
  { words, redirects, inputs }: Command,
  readers: ReadonlySet<string>,
  options: CheckOptions,
  rules: CommandRules,
): string | undefined => {
  const variable = words.flatMap((word) => word.variables).find((name) => options.variables?.includes(name) !== true)
  if (variable !== undefined) return `uses the variable ${quoted(variable)}, which is not allowed`
  for (const redirect of redirects) {
    const reason = ofRedirect(redirect, options.redirects === true)
    if (reason !== undefined) return reason
  }
  const reader = words.find(({ literal = '' }) => {
    const program = programName(literal)
    return readers.has(program) || inputs.some((text) => readsCommands(program, text))
  })
  if (reader?.literal !== undefined) return `lets ${named(reader.literal)} run commands that it reads`
  // a redirection without a command creates or empties a file
  return words.length === 0 ? undefined : ofReadings(words, rules)
}

/** A dynamic word can have any value. It can also be empty. */
const ofReadings = (words: readonly Word[], rules: CommandRules): string | undefined => {
  const reason = rules(words.map(({ literal }) => literal))
  if (reason !== undefined || words.every(({ literal }) => literal !== undefined)) return reason
  return rules(words.map(({ text }) => text))
}

const ofRedirect = ({ operator, target: { literal } }: Redirect, allowed: boolean): string | undefined => {
  if (/^[<>]&$/.test(operator) && /^[012]$/.test(literal ?? '')) return undefined
  // discarded or displayed output has no effect
  if (/^\/dev\/(?:null|stdout|stderr)$/.test(literal ?? '')) return undefined
  if (!allowed) return 'redirects to or from a file'
  if (literal === undefined) return 'redirects to a file that is not known before it runs'
  return /^\/dev\/(?:tcp|udp)\//.test(literal) ? 'redirects to the network' : undefined
}

/** Escapes of printf and echo. */
const ESCAPE = /\\(?:n|x([0-9a-f]{1,2})|0?([0-7]{1,3}))/gi

const unescaped = (text: string): string =>
  text.replace(ESCAPE, (_, hex?: string, octal?: string) =>
    String.fromCharCode(hex === undefined ? Number.parseInt(octal ?? '12', 8) : Number.parseInt(hex, 16)),
  )

/** Texts that a command could write to a pipe: its arguments, singly and joined, and its here-documents. */
const possibleOutput = ({ words: [first, ...rest], inputs }: Command): readonly string[] => {
  if (!/^(?:echo|printf)$/.test(programName(first?.literal ?? ''))) return inputs
  const texts = rest.map(({ text }) => text)
  return [...inputs, ...[...texts, texts.join(' '), texts.slice(1).join('')].map(unescaped)]
}

/** A redirection of a command. */
interface Redirect {
  readonly operator: string
  readonly target: Word
}

/** A command with its words and, separately, its redirections. */
interface Command {
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
const lex = (text: string): Lexed => {
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
