import { isAlnum, isBlank, PARTS, runEnd, skipBlanks } from './alphabet.ts'
import { type Hit, marksAt } from './hit.ts'
import { type Level, Levels } from './names.ts'
import { isSecretUnder, phraseAt } from './opaque.ts'
import { isExpression, isNone, isPlaceholder, isProse } from './placeholders.ts'
import type { Scan } from './scan.ts'
import { isQuoted, quotedValue, unquotedEnd } from './values.ts'

/** Steps of judging an option. */
const OPTION = 80
/** A value is judged by so many characters at most. */
const MAX_JUDGED = 512

/** What stands in front of an option. */
const BEFORE = new Set(Array.from(' \t\r\n"\'`=([', (character) => character.charCodeAt(0)))

/** What stands between two elements of a list of arguments. */
const LISTED = /^["'],\s{0,4}(?=["'])/

/** Words one writes about an option rather than behind it. */
const ABOUT = /^(?:flags?|options?|arguments?|args?|values?|parameters?|switch|instead|only|here)[.,;:]?$/i

/** `--name value` and `-name value` with a sensitive name, and `-u user:password`; triggered at the first hyphen. */
export const argument = (scan: Scan, at: number): Hit | undefined => {
  const { text } = scan
  if (at > 0 && !BEFORE.has(text.charCodeAt(at - 1))) return undefined
  const start = text[at + 1] === '-' ? at + 2 : at + 1
  if (!isAlnum(text.charCodeAt(start))) return undefined
  if (text[start] === 'u' && start === at + 1 && isAlnum(text.charCodeAt(at + 2))) return joinedLogin(text, at + 2)
  scan.spend(OPTION)
  const end = runEnd(text, start, PARTS, 64)
  const listed =
    text.charCodeAt(end) === text.charCodeAt(at - 1) ? LISTED.exec(text.slice(end, end + 8))?.[0] : undefined
  if (!isBlank(text.charCodeAt(end)) && listed === undefined) return undefined
  const name = text.slice(start, end)
  // In a list the value keeps its own quotes.
  const from = listed === undefined ? skipBlanks(text, end) : end + listed.length
  const level = scan.rules.levelOf(name)
  if (level === Levels.none) return userAndPassword(text, name, from)
  return level < Levels.likely ? judgedOption(text, from, level) : optionValue(text, from)
}

/** The value of an option that takes more than secrets. */
const judgedOption = (text: string, from: number, level: Level): Hit | undefined => {
  const phrase = level === Levels.opaque ? phraseAt(text, from) : undefined
  if (phrase !== undefined) return { start: from, end: from + phrase, kind: 'name' }
  const hit = isQuoted(text, from)
    ? quotedValue(text, from, 'name')
    : ({ start: from, end: unquotedEnd(text, from), kind: 'name' } as const)
  return hit !== undefined && isSecretUnder(level, text.slice(hit.start, hit.end)) ? hit : undefined
}

const optionValue = (text: string, from: number): Hit | undefined => {
  if (isQuoted(text, from)) return quotedValue(text, from, 'name')
  const value = text.slice(from, unquotedEnd(text, from, MAX_JUDGED))
  const isValue = /^[^-"'`|&<>=]/.test(value) && !marksAt(text, from) && !isNone(value) && !isExpression(value)
  if (!isValue || ABOUT.test(value) || isProse([value])) return undefined
  return { start: from, end: unquotedEnd(text, from), kind: 'name' }
}

/** `-uuser:password` as curl takes it. */
const joinedLogin = (text: string, from: number): Hit | undefined => {
  const user = /^[\w.@-]{1,64}:(?=[^\s:/"'$\d]|\d+[^\s\d])/.exec(text.slice(from, from + 80))?.[0]
  if (user === undefined || marksAt(text, from + user.length)) return undefined
  return { start: from + user.length, end: unquotedEnd(text, from + user.length), kind: 'name' }
}

/** What `curl -u` and its like take. */
const userAndPassword = (text: string, name: string, from: number): Hit | undefined => {
  if (name !== 'u' && name !== 'user' && name !== 'proxy-user') return undefined
  const value = text.slice(from, unquotedEnd(text, from, MAX_JUDGED))
  const user = /^["']?[^\s:/"']{1,128}:(?!\/\/|\d+(?:$|\W))/.exec(value)?.[0]
  if (user === undefined || isPlaceholder(value.slice(user.length)) || marksAt(value, user.length)) return undefined
  return { start: from + user.length, end: from + value.replace(/["']+$/, '').length, kind: 'name' }
}
