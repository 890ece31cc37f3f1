import type { Violation } from 'guard-gateway/lib/check-arguments'
import { endsAlikeInBash3 } from './bash-3-substitutions.ts'
import { outline } from './grammar.ts'
import { withoutFirstBackslash } from './heredoc.ts'
import { type Command, lex, type Redirect } from './lex.ts'
import { possibleOutput } from './possible-output.ts'
import { programName } from './program.ts'
import { type Allowed, type CommandRules, rulesOf } from './rules.ts'
import { readersOf, readsCommands } from './script-inputs.ts'
import { Unreadable, type Word } from './word.ts'

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
  if (variable !== undefined) return `uses the variable ${variable.slice(0, 60)}, which is not allowed`
  for (const redirect of redirects) {
    const reason = ofRedirect(redirect, options.redirects === true)
    if (reason !== undefined) return reason
  }
  const reader = words.find(({ literal = '' }) => {
    const program = programName(literal)
    return readers.has(program) || inputs.some((text) => readsCommands(program, text))
  })
  if (reader?.literal !== undefined) return `lets ${reader.literal.slice(0, 60)} run commands that it reads`
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
