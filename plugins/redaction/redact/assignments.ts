import { isAlnum, isBlank, isSpace, skipBlanks } from './alphabet.ts'
import { type Hit, marksAt } from './hit.ts'
import { type Level, Levels } from './names.ts'
import { isFolder, isHuman, isSecretUnder, phraseAt } from './opaque.ts'
import {
  isExpression,
  isNone,
  isNoValue,
  isOdd,
  isPlaceholder,
  isProse,
  isSchemeOnly,
  refersAt,
} from './placeholders.ts'
import type { Scan } from './scan.ts'
import { isQuoted, lineEnd, quotedValue, unquotedEnd } from './values.ts'

/** The longest name looked at. */
export const MAX_NAME = 64
/** A value is judged by so many characters at most; what is hidden goes on to its end. */
export const MAX_JUDGED = 256
/** Steps of judging the name of a pair, and a value. */
const PAIR = 100
const VALUE = 800
/** How far behind a name its value may stand when the two are members of a pair. */
const PAIR_REACH = 200

/** A name whose value may follow. */
export interface Name {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly level: Level
}

const QUOTES = new Set(['"', "'", '`'])

/** What may stand between a name and the sign that assigns: marks of Markdown, a quote, a bracket, blanks. */
const SEPARATOR = /(?:\*\*|__)?\\?["'`]?[\]?]?[ \t]{0,8}(?=[:=：])/y

/** The sign that assigns to the name that ends at `end`, if one follows. */
export const separatorAfter = (text: string, end: number): number | undefined => {
  SEPARATOR.lastIndex = end
  return SEPARATOR.test(text) ? SEPARATOR.lastIndex : undefined
}

/** Where the value may begin behind a separator that assigns; undefined if it compares, scopes or begins an address. */
const afterSeparator = (text: string, at: number): number | undefined =>
  text[at] === '=' ? afterEquals(text, at) : afterColon(text, at)

const afterColon = (text: string, at: number): number | undefined => {
  const next = text[at + 1]
  if (next === ':' || text[at - 1] === ':' || (next === '/' && text[at + 2] === '/')) return undefined
  return next === '=' ? at + 2 : at + 1
}

const afterEquals = (text: string, at: number): number | undefined => {
  const next = text[at + 1]
  if (next === '=' || next === '~' || /[=!<>:+*/|&^%-]/.test(text[at - 1] ?? '')) return undefined
  if (next === '>') return QUOTES.has(text.charAt(previousInk(text, at))) ? at + 2 : undefined
  return at + 1
}

const previousInk = (text: string, at: number): number => {
  let index = at - 1
  while (index > at - 8 && isBlank(text.charCodeAt(index))) index--
  return index
}

/** Query names that are secrets in addresses though not elsewhere. */
const QUERY_NAMES =
  /^(?:sig|signature|key|auth|code|hmac|(?:x-amz|x-goog|x-oss)-(?:signature|credential|security-token)|awsaccesskeyid|googleaccessid)$/i

/** A sensitive name in the query or fragment of an address, with its value. */
const queryValue = (scan: Scan, name: Name, from: number): Hit | undefined => {
  const { text } = scan
  const before = text[name.start - 1]
  if ((before !== '?' && before !== '&' && before !== '#') || !QUERY_NAMES.test(name.text)) return undefined
  const value = text.slice(from, scan.unquotedEnd(from, MAX_JUDGED))
  const short = /^(?:key|code|auth)$/i.test(name.text) && !(value.length >= 16 && /\d/.test(value))
  return short || isPlaceholder(value) ? undefined : { start: from, end: scan.unquotedEnd(from), kind: 'url' }
}

/** `name=value`, `name: value`, `"name": "value"`, `name := value`: the value behind the separator at `at`. */
export const assigned = (scan: Scan, name: Name, at: number): Hit | undefined => {
  const { text } = scan
  const after = afterSeparator(text, at)
  if (after === undefined) return undefined
  const from = valueStart(text, skipBlanks(text, after))
  if (isReference(text, from, at)) return undefined
  const { level } = name
  if (level === Levels.none)
    return openPair(scan, name, from) ?? (text[at] === '=' ? queryValue(scan, name, from) : undefined)
  scan.spend(VALUE)
  return isWorkingDirectory(name.text, text, from)
    ? undefined
    : ofLevel({ scan, name, at, from, tight: from === after })
}

/** The value of a sensitive name, as its level has it. */
const ofLevel = (bare: Bare): Hit | undefined => {
  const { scan, name, at, from } = bare
  const { level } = name
  const { text } = scan
  if (level === Levels.line) return wholeLine(scan, name, from)
  if (level < Levels.likely) return judgedValue(scan, level, at, from) ?? queryValue(scan, name, from)
  if (isQuoted(text, from)) return quotedSecret(text, from)
  if (text[from] === '|' || text[from] === '>') return block(scan, name, from)
  if (text[from] === '[' || text[from] === 'q') return otherQuotes(text, from) ?? bareValue(bare)
  return bareValue(bare)
}

/** A literal of Perl, Ruby or Lua: `q(…)`, `[[…]]`. */
const otherQuotes = (text: string, from: number): Hit | undefined => {
  const [all = '', value = ''] =
    /^(?:qq?[({[]|\[\[)([^\s(){}[\]]{4,200})[)}\]]/.exec(text.slice(from, from + 210)) ?? []
  const start = from + all.length - 1 - value.length
  return isHuman(value) ? { start, end: start + value.length, kind: 'name' } : undefined
}

/** Where the value begins behind marks of Markdown that close its name, and behind the tag or anchor of YAML. */
const valueStart = (text: string, from: number): number => {
  BEFORE_VALUE.lastIndex = from
  return BEFORE_VALUE.test(text) ? BEFORE_VALUE.lastIndex : from
}
const BEFORE_VALUE = /(?:(?:\*\*|__|~~|[*`])[ \t]{1,4}(?:\*\*|__|`)?|(?:[&!][\w!-]{1,40}[ \t]{1,4}){1,2})/y

/** The text of a block of YAML: all lines that stand deeper than its name. */
const block = (scan: Scan, name: Name, from: number): Hit | undefined => {
  const { text } = scan
  const head = /^[|>][+-]?\d?[ \t]*\r?\n([ \t]*)(?=\S)/.exec(text.slice(from, from + 120))
  if (head === null) return undefined
  const line = /[^\n]*$/.exec(text.slice(Math.max(0, name.start - PAIR_REACH), name.start))?.[0] ?? ''
  const indent = head[1]?.length ?? 0
  if (indent <= line.length - line.trimStart().length) return undefined
  const start = from + head[0].length
  let end = lineEnd(text, start, undefined)
  while (text.startsWith(`\n${head[1]}`, end) && end - start < MAX_BLOCK) end = lineEnd(text, end + 1, undefined)
  const value = text.slice(start, Math.min(end, start + MAX_JUDGED)).trim()
  return isOdd(value.split(/\s/)[0] ?? '') && !isPlaceholder(value) && !isExpression(value)
    ? { start, end, kind: 'name' }
    : undefined
}
const MAX_BLOCK = 16_384

/** A mark, a reference, or after a colon a word in backticks: so prose puts the names of things. */
const isReference = (text: string, from: number, separator: number): boolean =>
  marksAt(text, from) ||
  refersAt(text, from) ||
  // a variable of psql
  (/^ :['"]\w+['"]/.test(text.slice(separator - 1, from + 64)) && /\w/.test(text.charAt(separator - 2))) ||
  (text[from] === '`' && (text[separator] === ':' || /^`[\w./-]+ [^`\n]*`/.test(text.slice(from, from + 200))))

/** The level of the name that `value` forms a pair with: `name: X, value: …`. */
export const pairedLevel = (scan: Scan, name: string, start: number): Level => {
  const { pair } = scan
  if (pair === undefined || start >= pair.until || !/^(?:-*(?:parameter)?val(?:ue)?|default|text)$/i.test(name))
    return Levels.none
  scan.pair = undefined
  return pair.level
}

/** Remembers the sensitive name that is the value of `name`, `key` or `header`, in text or as an option. */
export const openPair = (scan: Scan, name: Name, from: number): undefined => {
  if (!/(?:^|[ ._-])(?:name|key|header|parameterkey|label|selector|locator)$/i.test(name.text)) return undefined
  const value = /^\\?["'`]?#?([\w./-]{1,64})/.exec(scan.text.slice(from, from + MAX_NAME + 3))?.[1] ?? ''
  pair(scan, scan.rules.levelOf(value), from)
}

/** The value of a pair may follow behind `from`. */
export const pair = (scan: Scan, level: Level, from: number): void => {
  scan.spend(PAIR)
  if (level !== Levels.none)
    scan.pair = { level: Math.min(level, Levels.password) as Level, from, until: from + PAIR_REACH }
}

/** A value in quotes that is no label, reference or state. */
const quotedSecret = (text: string, from: number): Hit | undefined => {
  const hit = quotedValue(text, from, 'name')
  const value = hit === undefined ? '' : text.slice(hit.start, Math.min(hit.end, hit.start + MAX_JUDGED))
  // signs alone, or a blank first: the quote closes what stands before it
  return isNone(value) || /^[\s;,)]|^[^\p{L}\p{N}]*$/u.test(value) ? undefined : hit
}

/** `PWD=/home/me` is where a shell stands. */
const isWorkingDirectory = (name: string, text: string, from: number): boolean => {
  if (!/^(?:old)?pwd$/i.test(name)) return false
  const start = isQuoted(text, from) ? from + (text[from] === '\\' ? 2 : 1) : from
  const end = unquotedEnd(text, start, MAX_JUDGED)
  return end > start && isFolder(text.slice(start, end).replace(/\\?["']$/, ''))
}

/** The value at `from` of a name that stands for more than secrets, if it is one and `isMeant` agrees. */
export const judgedAt = (
  scan: Scan,
  level: Level,
  from: number,
  isMeant: (value: string) => boolean = () => true,
): Hit | undefined => {
  const { text } = scan
  const phrase = level === Levels.opaque ? phraseAt(text, from) : undefined
  if (phrase !== undefined) return { start: from, end: from + phrase, kind: 'name' }
  const quoted = isQuoted(text, from) ? quotedValue(text, from, 'name') : undefined
  const hit = quoted ?? { start: from, end: scan.unquotedEnd(from), kind: 'name' as const }
  const value = text.slice(hit.start, hit.end)
  return (quoted !== undefined || isMeant(value)) && isSecretUnder(level, value) ? hit : undefined
}

/** In running text `pass: word` is a word of a sentence or a result, `PASS: …` that of a test. */
const judgedValue = (scan: Scan, level: Level, at: number, from: number): Hit | undefined =>
  judgedAt(scan, level, from, (value) => {
    const assigns = scan.text[at] === '='
    if (level === Levels.word)
      return (
        isOdd(value) && !/[()/.]/.test(value) && (assigns || !scan.text.slice(Math.max(0, at - 5), at).endsWith('PASS'))
      )
    return level !== Levels.code || assigns || /^\d{4,12}$/.test(value)
  })

const SCHEME = /^[A-Za-z][\w-]{2,30} +[^\s,;"']/

/** `Authorization: …` and `Cookie: …`: all that stands on the line, up to the quote the header stands in. */
const wholeLine = ({ text }: Scan, name: Name, from: number): Hit | undefined => {
  if (isQuoted(text, from)) {
    if (isSchemeOnly(text.slice(from + 1, from + MAX_JUDGED))) return undefined
    const hit = quotedSecret(text, from)
    return hit && { ...hit, kind: 'token' }
  }
  const quote = text.charAt(name.start - 1)
  const stop = !isQuotedName(text, name) && QUOTES.has(quote) ? quote : undefined
  const value = text.slice(from, lineEnd(text, from, stop, MAX_JUDGED)).trimEnd()
  if (isPlaceholder(value) || isNoValue(value) || isExpression(value) || isSchemeOnly(value)) return undefined
  const looksRight = /cookies?$/i.test(name.text) ? isCookie(value) : isAuthorization(value)
  return looksRight ? { start: from, end: lineEnd(text, from, stop), kind: 'token' } : undefined
}

const isCookie = (value: string): boolean =>
  /(?:^|; ?)(?!(?:max-age|path|domain|expires|samesite)=)[^=;\s]{1,64}=[^;\s]/i.test(value) ||
  (!value.includes('=') && isOdd(value))

const isAuthorization = (value: string): boolean => {
  const words = value.split(/\s+/)
  return (SCHEME.test(value) && !isProse(words)) || isOdd(words[0] ?? '')
}

/** A value without quotes, and what is known about its surroundings. */
interface Bare {
  readonly scan: Scan
  readonly name: Name
  readonly at: number
  readonly from: number
  /** The value stands directly behind the separator. */
  readonly tight: boolean
}

const bareValue = (bare: Bare): Hit | undefined => {
  const { text } = bare.scan
  const end = bare.scan.unquotedEnd(bare.from, MAX_JUDGED)
  const value = text.slice(bare.from, end)
  if (value === '' || '{[(|>'.includes(value.charAt(0)) || isNotSecret(bare, value)) return undefined
  const rest = restOfLine(text, end)
  if (isAloneSecret(bare, value, rest)) return { start: bare.from, end: bare.scan.unquotedEnd(bare.from), kind: 'name' }
  return !bare.tight && isPassphrase(bare, `${value}${rest}`)
    ? { start: bare.from, end: lineEnd(text, bare.from, undefined), kind: 'name' }
    : undefined
}

const NUMBER = /^-?\d+(?:\.\d+)?$/
/** As in JSON. */
const isQuotedName = (text: string, { end }: Name): boolean => /^(?:\*\*|__)?\\?["'`]/.test(text.slice(end, end + 4))

const isNotSecret = ({ scan, name }: Bare, value: string): boolean => {
  if (isNone(value) || isExpression(value) || /^[^\p{L}\p{N}]*$/u.test(value)) return true
  // what sed puts in place of a pattern
  if (scan.text[name.start - 1] === '/' && /\/[gimsI]{0,3}$/.test(value)) return true
  if (NUMBER.test(value))
    return (
      name.level !== Levels.password &&
      (isQuotedName(scan.text, name) || value.length < 6 || name.level === Levels.likely)
    )
  return value.length <= MAX_NAME && /^[A-Za-z_$][\w$.]*$/.test(value) && scan.rules.levelOf(value) !== Levels.none
}

const isAloneSecret = (bare: Bare, value: string, rest: string): boolean => {
  if (bare.tight) return isTightSecret(bare, value)
  return /^\s*;?\s*$/.test(rest) ? isLineSecret(bare, value) : isOdd(value)
}

/** `name=value` says enough; `name:value` of a `token` may be a pair of words. */
const isTightSecret = ({ scan, name, at }: Bare, value: string): boolean =>
  scan.text[at] === '=' || name.level >= Levels.certain || isOdd(value)

/** The value is all that stands on the line. */
const isLineSecret = ({ scan, name, at }: Bare, value: string): boolean => {
  if (name.level === Levels.likely) return isOdd(value)
  return scan.text[at] === ':' || isOdd(value) || beginsLine(scan.text, name.start)
}

/** Several plain words behind a password name at the start of a line, which make no sentence. */
const isPassphrase = ({ scan, name }: Bare, line: string): boolean => {
  if (name.level !== Levels.password || !beginsLine(scan.text, name.start)) return false
  const words = line.trim().split(/\s+/)
  return words.length >= 3 && words.every((word) => /^[\w'-]+$/.test(word)) && !isProse(words)
}

const restOfLine = (text: string, from: number): string => /^[^\r\n]*/.exec(text.slice(from, from + 200))?.[0] ?? ''

/** Nothing but blanks and list or comment signs stand before `start` on its line. */
const beginsLine = (text: string, start: number): boolean => {
  let at = start - 1
  while (at > start - 32 && (isBlank(text.charCodeAt(at)) || text[at] === '-' || text[at] === '#')) at--
  return at < 0 || (isSpace(text.charCodeAt(at)) && !isAlnum(text.charCodeAt(at)))
}
