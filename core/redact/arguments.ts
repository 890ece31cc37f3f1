import { isAlnum, isBlank, PARTS, runEnd, skipBlanks } from './alphabet.ts'
import { type Hit, marksAt } from './hit.ts'
import { Levels } from './names.ts'
import { isExpression, isPlaceholder, isProse } from './placeholders.ts'
import type { Scan } from './scan.ts'
import { isQuoted, quotedValue, unquotedEnd } from './values.ts'

/** A value is judged by so many characters at most. */
const MAX_JUDGED = 512

/** What stands in front of an option. */
const BEFORE = new Set(Array.from(' \t\r\n"\'`=([', (character) => character.charCodeAt(0)))

/** Words one writes about an option rather than behind it. */
const ABOUT = /^(?:flags?|options?|arguments?|args?|values?|parameters?|switch|instead|only|here)[.,;:]?$/i

/** `--name value` and `-name value` with a sensitive name, and `-u user:password`; triggered at the first hyphen. */
export const argument = (scan: Scan, at: number): Hit | undefined => {
  const { text } = scan
  if (at > 0 && !BEFORE.has(text.charCodeAt(at - 1))) return undefined
  const start = text[at + 1] === '-' ? at + 2 : at + 1
  if (!isAlnum(text.charCodeAt(start))) return undefined
  const end = runEnd(text, start, PARTS, 64)
  if (!isBlank(text.charCodeAt(end))) return undefined
  const name = text.slice(start, end)
  const from = skipBlanks(text, end)
  return scan.rules.levelOf(name) === Levels.none ? userAndPassword(text, name, from) : optionValue(text, from)
}

const optionValue = (text: string, from: number): Hit | undefined => {
  if (isQuoted(text, from)) return quotedValue(text, from, 'name')
  const value = text.slice(from, unquotedEnd(text, from, MAX_JUDGED))
  const isValue = /^[^-"'`|&<>]/.test(value) && !marksAt(text, from) && !isPlaceholder(value) && !isExpression(value)
  if (!isValue || ABOUT.test(value) || isProse([value])) return undefined
  return { start: from, end: unquotedEnd(text, from), kind: 'name' }
}

/** What `curl -u` and its like take. */
const userAndPassword = (text: string, name: string, from: number): Hit | undefined => {
  if (name !== 'u' && name !== 'user' && name !== 'proxy-user') return undefined
  const value = text.slice(from, unquotedEnd(text, from, MAX_JUDGED))
  const user = /^["']?[^\s:/"']{1,128}:(?!\/\/|\d+(?:$|\D))/.exec(value)?.[0]
  if (user === undefined || isPlaceholder(value.slice(user.length)) || marksAt(value, user.length)) return undefined
  return { start: from + user.length, end: from + value.replace(/["']+$/, '').length, kind: 'name' }
}
