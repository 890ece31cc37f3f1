import { classOf, isAlnum, isBlank, runEnd, skipBlanks, URL64 } from './alphabet.ts'
import { judgedAt, MAX_JUDGED, type Name } from './assignments.ts'
import { MAX_COMMAND, type PasswordOptions, passwordOptions } from './commands.ts'
import { type Hit, marksAt } from './hit.ts'
import { Levels } from './names.ts'
import { isExpression, isNone, isNoValue, isPlaceholder, isProse } from './placeholders.ts'
import type { Scan, Shape } from './scan.ts'
import { isQuoted, quotedValue, unquotedEnd } from './values.ts'

/** The longest command line looked at. */
const MAX_LINE = 1_024

const endOfLine = (scan: Scan, from: number): number => {
  let end = from
  for (let lines = 0; lines < 16; lines++) {
    const next = scan.indexOf('\n', end)
    if (next === -1) return from + MAX_LINE
    if (scan.text[next - 1] !== '\\') return next
    end = next + 1
  }
  return end
}

/** Remembers a program that takes passwords as options; triggered at its name, and never a hit of its own. */
export const command: Shape = (scan, at) => {
  const { text } = scan
  const end = runEnd(text, at, URL64, MAX_COMMAND)
  const options = passwordOptions(text.slice(at, end))
  const isWhole = (classOf(text.charCodeAt(at - 1)) & URL64) === 0
  if (options === undefined || !isWhole || !/^(?:\.exe)?(?:["']?,? ?["']? ?-|["']? )/.test(text.slice(end, end + 10)))
    return undefined
  scan.command = { options, from: at, until: Math.min(endOfLine(scan, end), at + MAX_LINE) }
  return undefined
}

const BEFORE = new Set(Array.from(' \t\n"\'', (character) => character.charCodeAt(0)))

/** The password behind `-p` and its like of a program that is known to take one there; triggered at the hyphen. */
export const commandOption: Shape = (scan, at) => {
  const { text, command: known } = scan
  if (known === undefined || at > known.until || at < known.from || !BEFORE.has(text.charCodeAt(at - 1)))
    return undefined
  const letter = text.charAt(at + 1)
  const behind = text.charCodeAt(at + 2)
  if (!isAlnum(text.charCodeAt(at + 1)) || Number.isNaN(behind)) return undefined
  if (isBlank(behind)) return optionApart(scan, known.options, letter, skipBlanks(text, at + 2))
  const listed = /^["'],? ?["']/.exec(text.slice(at + 2, at + 6))?.[0]
  if (listed !== undefined)
    return known.options.apart.includes(letter) ? valueAt(scan, at + 2 + listed.length) : undefined
  return known.options.joined.includes(letter) ? valueAt(scan, at + 2) : undefined
}

const optionApart = (scan: Scan, options: PasswordOptions, letter: string, from: number): Hit | undefined => {
  // a port
  if (options.apart.includes(letter) && !/^\d{1,5}(?!\S)/.test(scan.text.slice(from, from + 6)))
    return valueAt(scan, from)
  if (letter !== options.login.charAt(0)) return undefined
  const end = scan.unquotedEnd(from)
  const sign = scan.text.slice(from, Math.min(end, from + 128)).indexOf(options.login.charAt(1))
  return sign < 1 ? undefined : valueAt(scan, from + sign + 1)
}

const valueAt = (scan: Scan, from: number): Hit | undefined => {
  const { text } = scan
  if (isQuoted(text, from)) return quotedValue(text, from, 'name')
  const end = scan.unquotedEnd(from)
  const value = text.slice(from, Math.min(end, from + 300))
  const isValue = /^[^-"'`|&<>]/.test(value) && !marksAt(text, from) && !isPlaceholder(value) && !isProse([value])
  return isValue ? { start: from, end, kind: 'name' } : undefined
}

/** What stands in front of an option. */
const BEFORE_OPTION = /^[\s"'`=([]?$/

/** What stands between two elements of a list of arguments. */
const LISTED = /^["'],\s{0,4}(?=["'])/

/** Words one writes about an option rather than behind it. */
const ABOUT = /^(?:flags?|options?|arguments?|args?|values?|parameters?|switch|instead|only|here)[.,;:]?$/i

/** The value of `--name value` and `-name value`. */
export const optionValue = (scan: Scan, { text: name, start, end, level }: Name): Hit | undefined => {
  const { text } = scan
  if (name[0] !== '-' || level === Levels.line || !BEFORE_OPTION.test(text.charAt(start - 1))) return undefined
  const listed = text[end] === text[start - 1] ? LISTED.exec(text.slice(end, end + 8))?.[0] : undefined
  if (!isBlank(text.charCodeAt(end)) && listed === undefined) return undefined
  // in a list the value keeps its own quotes
  const from = listed === undefined ? skipBlanks(text, end) : end + listed.length
  if (level < Levels.likely) return judgedAt(scan, level, from)
  return isQuoted(text, from) ? quotedValue(text, from, 'name') : bareOption(text, from)
}

const bareOption = (text: string, from: number): Hit | undefined => {
  const value = text.slice(from, unquotedEnd(text, from, MAX_JUDGED))
  const isValue = /^[^-"'`|&<>=]/.test(value) && !marksAt(text, from) && !isNone(value) && !isExpression(value)
  if (!isValue || ABOUT.test(value) || isProse([value])) return undefined
  return { start: from, end: unquotedEnd(text, from), kind: 'name' }
}

/** `-u user:password`, `-uuser:password`, `--user user:password` as curl and its like take it; triggered at the hyphen. */
export const login: Shape = ({ text }, at) => {
  if (!BEFORE_OPTION.test(text.charAt(at - 1))) return undefined
  const found = LOGIN.exec(text.slice(at, at + 160))
  if (found === null) return undefined
  const start = at + found[0].length
  const end = unquotedEnd(text, start)
  const password = text.slice(start, Math.min(end, start + MAX_JUDGED)).replace(/["']+$/, '')
  return isPlaceholder(password) || isNoValue(password) || marksAt(text, start)
    ? undefined
    : { start, end: password.length < MAX_JUDGED ? start + password.length : end, kind: 'name' }
}
const LOGIN =
  /^-(?:u[ \t]*|-?(?:user|proxy-user)[ \t]+)["']?(?![a-z]+:\/\/)[^\s:/"'$]{1,128}:(?!\/\/|\d+(?:$|\W))(?=[^\s])/
