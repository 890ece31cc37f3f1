import { readWord, Unreadable, type Word } from './word.ts'

/** A file or descriptor that a command reads or writes. */
export interface Redirect {
  readonly operator: string
  readonly target: Word
}

/** A command with its words; redirections are apart. */
export interface Command {
  readonly words: readonly Word[]
  readonly redirects: readonly Redirect[]
}

/** What separates commands, longest first. */
const SEPARATOR = /&&|\|\||\|&|[;|\n()]|&(?!>)/y
const REDIRECT = /&>>|&>|<<<|<<|<&|<>|<|>>|>&|>\||>/y
const BLANKS = /(?:[ \t]|\\\n)+/y
const COMMENT = /#[^\n]*/y
const DESCRIPTOR = /[0-9]+(?=[<>])/y
const GROUP = /[{}!](?=[ \t\n;&|)]|$)/y

const matched = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

interface Draft {
  readonly words: Word[]
  readonly redirects: Redirect[]
}

/**
 * Every command of a text, in order. A second reading beside the grammar's: it knows words and separators alone,
 * and refuses what it does not know by throwing Unreadable.
 */
export const lex = (text: string): readonly Command[] => {
  const commands: Draft[] = []
  let current: Draft = { words: [], redirects: [] }
  const end = (): void => {
    if (current.words.length + current.redirects.length > 0) commands.push(current)
    current = { words: [], redirects: [] }
  }
  for (let at = 0; at < text.length; ) {
    const skipped = matched(BLANKS, text, at) ?? matched(COMMENT, text, at)
    const separator = skipped === undefined ? matched(SEPARATOR, text, at) : undefined
    if (skipped !== undefined) at += skipped.length
    else if (separator !== undefined) {
      checkSeparator(text, at, separator, current)
      end()
      at += separator.length
    } else at = readPart(text, at, current)
  }
  end()
  return commands
}

const checkSeparator = (text: string, at: number, separator: string, current: Draft): void => {
  const next = text[at + separator.length]
  if (separator === ';' && (next === ';' || next === '&')) throw new Unreadable('holds a case')
  if (separator !== '(') return
  if (next === '(') throw new Unreadable('holds arithmetic')
  if (current.words.length + current.redirects.length > 0) throw new Unreadable('holds a function or a pattern')
}

/** Reads a redirection, the mark of a group, or a word; gives the offset behind it. */
const readPart = (text: string, at: number, current: Draft): number => {
  const from = at + (matched(DESCRIPTOR, text, at)?.length ?? 0)
  const operator = matched(REDIRECT, text, from)
  if (operator !== undefined) return readRedirect(text, from + operator.length, operator, current)
  if (current.words.length === 0 && matched(GROUP, text, at) !== undefined) return at + 1
  const word = readWord(text, at)
  current.words.push(word)
  return word.end
}

const readRedirect = (text: string, behind: number, operator: string, current: Draft): number => {
  if (operator.startsWith('<<')) throw new Unreadable('holds a here-document')
  if (text[behind] === '(') throw new Unreadable('holds a process substitution')
  const at = behind + (matched(BLANKS, text, behind)?.length ?? 0)
  const target = readWord(text, at)
  if (target.end === at) throw new Unreadable('has a redirection without a target')
  current.redirects.push({ operator, target })
  return target.end
}
