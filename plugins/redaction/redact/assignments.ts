import { isAlnum, isBlank, isDigit, isSpace, nameStart, PARTS, runStart, skipBlanks } from './alphabet.ts'
import { type Hit, marksAt } from './hit.ts'
import { type Level, Levels } from './names.ts'
import { isFolder, isSecretUnder, phraseAt } from './opaque.ts'
import {
  isExpression,
  isNone,
  isNoValue,
  isOdd,
  isPlaceholder,
  isProse,
  isResource,
  isSchemeOnly,
  refersAt,
} from './placeholders.ts'
import type { Scan } from './scan.ts'
import { isQuoted, lineEnd, quotedValue, unquotedEnd } from './values.ts'

/** The longest name looked at, before `=` or `:`. */
const MAX_NAME = 64
/** A value is judged by so many characters at most; what is hidden goes on to its end. */
const MAX_JUDGED = 256
/** Steps of judging a name, the name of a pair, and a value. */
const NAME = 60
const PAIR = 100
const VALUE = 800
/** How far behind a name its value may stand when the two are members of a pair. */
const PAIR_REACH = 200

/** A name in front of a separator. */
interface Name {
  readonly text: string
  readonly start: number
  /** In quotes, as in JSON. */
  readonly quoted: boolean
}

const QUOTES = new Set(['"', "'", '`'])

/** Where the name ends before `separator`: before blanks, a bracket, a question mark, quotes, marks of Markdown. */
const nameEnd = (text: string, separator: number): readonly [end: number, quoted: boolean] => {
  let end = separator
  while (end > separator - 8 && isBlank(text.charCodeAt(end - 1))) end--
  if (text[end - 1] === '?' || text[end - 1] === ']') end--
  const quoted = QUOTES.has(text.charAt(end - 1))
  if (quoted) end--
  if (quoted && text[end - 1] === '\\') end--
  const last = text.charCodeAt(end - 1)
  return [(last === 0x2a || last === 0x5f) && text.charCodeAt(end - 2) === last ? end - 2 : end, quoted]
}

/** The name that ends before `separator`; the default of a variable of the shell (`${NAME:-x}`) has none. */
const nameBefore = (text: string, separator: number): Name | undefined => {
  const [end, quoted] = nameEnd(text, separator)
  let start = nameStart(text, end, MAX_NAME)
  if (text[start - 1] === '{' && text[start - 2] === '$') return undefined
  // No name begins with a digit; times and sizes do.
  if (start === end || isDigit(text.charCodeAt(start)) || marksAt(text, start - 10)) return undefined
  if (isResource(text, start)) return undefined
  // "API key: …": the word that makes `key` sensitive stands before it.
  if (isBlank(text.charCodeAt(start - 1)) && /^(?:key|string)$/i.test(text.slice(start, end))) {
    start = runStart(text, start - 1, PARTS, MAX_NAME)
  }
  return { text: text.slice(start, end), start, quoted }
}

/** Where the value may begin behind a separator that assigns; undefined if it compares, scopes or begins an address. */
const afterSeparator = (text: string, at: number): number | undefined =>
  text[at] === ':' ? afterColon(text, at) : afterEquals(text, at)

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

/** `name=value`, `name: value`, `"name": "value"`, `name := value` with a sensitive name; triggered at the separator. */
export const assignment = (scan: Scan, at: number): Hit | undefined => {
  const { text } = scan
  const after = afterSeparator(text, at)
  if (after === undefined) return undefined
  const name = nameBefore(text, at)
  if (name === undefined) return undefined
  scan.spend(NAME)
  const from = valueStart(text, skipBlanks(text, after))
  if (isReference(text, from, at)) return undefined
  const level = levelHere(scan, name, at)
  if (level === Levels.none)
    return openPair(scan, name, from) ?? (text[at] === '=' ? queryValue(scan, name, from) : undefined)
  scan.spend(VALUE)
  if (isWorkingDirectory(name.text, text, from)) return undefined
  return assigned({ scan, name, level, at, from, tight: from === after })
}

/** The value of a sensitive name, as its level has it. */
const assigned = (bare: Bare): Hit | undefined => {
  const { scan, name, level, at, from } = bare
  const { text } = scan
  if (level === Levels.line) return wholeLine(scan, name, from)
  if (level < Levels.likely) return judgedValue(scan, level, at, from) ?? queryValue(scan, name, from)
  if (isQuoted(text, from)) return quotedSecret(text, from)
  if (text[from] === '|' || text[from] === '>') return block(scan, name, from)
  return bareValue(bare)
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
  (text[from] === '`' && (text[separator] === ':' || /^`[\w./-]+ [^`\n]*`/.test(text.slice(from, from + 200))))

/** The level of the name, or of the name it forms a pair with: `name: X, value: …`. */
const levelHere = (scan: Scan, name: Name, at: number): Level => {
  if (/^(?:parameter)?val(?:ue)?$/i.test(name.text) && scan.pair !== undefined && at < scan.pair.until) {
    const { level } = scan.pair
    scan.pair = undefined
    return level
  }
  return scan.rules.levelOf(name.text)
}

/** Remembers the sensitive name that is the value of `name`, `key` or `header`. */
const openPair = (scan: Scan, name: Name, from: number): undefined => {
  if (!/(?:^|[ ._-])(?:name|key|header|parameterkey|label)$/i.test(name.text)) return undefined
  scan.spend(PAIR)
  const quoted = /^\\?["'`]/.exec(scan.text.slice(from, from + 2))?.[0].length ?? 0
  const value = /^[\w.-]{1,64}/.exec(scan.text.slice(from + quoted, from + quoted + MAX_NAME))?.[0]
  if (value === undefined) return undefined
  const level = scan.rules.levelOf(value)
  if (level !== Levels.none)
    scan.pair = { level: Math.min(level, Levels.password) as Level, from, until: from + PAIR_REACH }
  return undefined
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

/** `pass=…` or `pass: …`, and not `PASS: …` of a test. */
const isMeant = (text: string, at: number): boolean =>
  text[at] === '=' || !text.slice(Math.max(0, at - 5), at).endsWith('PASS')

/** The value of a name that stands for more than secrets, if it is one. */
const judgedValue = (scan: Scan, level: Level, at: number, from: number): Hit | undefined => {
  const { text } = scan
  const phrase = level === Levels.opaque ? phraseAt(text, from) : undefined
  if (phrase !== undefined) return { start: from, end: from + phrase, kind: 'name' }
  const quoted = isQuoted(text, from) ? quotedValue(text, from, 'name') : undefined
  const hit = quoted ?? { start: from, end: scan.unquotedEnd(from), kind: 'name' as const }
  const value = text.slice(hit.start, hit.end)
  // In running text `pass: word` is a word of a sentence or a result.
  if (level === Levels.word && quoted === undefined && !(isOdd(value) && !/[()/.]/.test(value) && isMeant(text, at)))
    return undefined
  if (level === Levels.code && quoted === undefined && text[at] !== '=' && !/^\d{4,12}$/.test(value)) return undefined
  return isSecretUnder(level, value) ? hit : undefined
}

const SCHEME = /^[A-Za-z][\w-]{2,30} +[^\s,;"']/

/** `Authorization: …` and `Cookie: …`: all that stands on the line, up to the quote the header stands in. */
const wholeLine = ({ text }: Scan, name: Name, from: number): Hit | undefined => {
  if (isQuoted(text, from)) {
    if (isSchemeOnly(text.slice(from + 1, from + MAX_JUDGED))) return undefined
    const hit = quotedSecret(text, from)
    return hit && { ...hit, kind: 'token' }
  }
  const quote = text.charAt(name.start - 1)
  const stop = !name.quoted && QUOTES.has(quote) ? quote : undefined
  const value = text.slice(from, lineEnd(text, from, stop, MAX_JUDGED)).trimEnd()
  if (isPlaceholder(value) || isNoValue(value) || isExpression(value) || isSchemeOnly(value)) return undefined
  const looksRight = /cookies?$/i.test(name.text) ? isCookie(value) : isAuthorization(value)
  return looksRight ? { start: from, end: lineEnd(text, from, stop), kind: 'token' } : undefined
}

const isCookie = (value: string): boolean => /^[^=;\s]{1,64}=/.test(value) || isOdd(value)

const isAuthorization = (value: string): boolean => {
  const words = value.split(/\s+/)
  return (SCHEME.test(value) && !isProse(words)) || isOdd(words[0] ?? '')
}

/** A value without quotes, and what is known about its surroundings. */
interface Bare {
  readonly scan: Scan
  readonly name: Name
  readonly level: Level
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
const isNotSecret = ({ scan, name, level }: Bare, value: string): boolean => {
  if (isNone(value) || isExpression(value) || /^[^\p{L}\p{N}]*$/u.test(value)) return true
  if (NUMBER.test(value))
    return level !== Levels.password && (name.quoted || value.length < 6 || level === Levels.likely)
  return value.length <= MAX_NAME && /^[A-Za-z_$][\w$.]*$/.test(value) && scan.rules.levelOf(value) !== Levels.none
}

const isAloneSecret = (bare: Bare, value: string, rest: string): boolean => {
  if (bare.tight) return isTightSecret(bare, value)
  return /^\s*;?\s*$/.test(rest) ? isLineSecret(bare, value) : isOdd(value)
}

/** `name=value` says enough; `name:value` of a `token` may be a pair of words. */
const isTightSecret = ({ scan, level, at }: Bare, value: string): boolean =>
  scan.text[at] === '=' || level >= Levels.certain || isOdd(value)

/** The value is all that stands on the line. */
const isLineSecret = ({ scan, name, level, at }: Bare, value: string): boolean => {
  if (level === Levels.likely) return isOdd(value)
  return scan.text[at] === ':' || isOdd(value) || beginsLine(scan.text, name.start)
}

/** Several plain words behind a password name at the start of a line, which make no sentence. */
const isPassphrase = ({ scan, name, level }: Bare, line: string): boolean => {
  if (level !== Levels.password || !beginsLine(scan.text, name.start)) return false
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
