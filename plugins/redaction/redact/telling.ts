import { isAlnum, isBlank, isDigit, nameStart, PARTS, runStart } from './alphabet.ts'
import { argumentBefore, callLogin, group, LOGIN, type Pass } from './calls.ts'
import { type Hit, marksAt } from './hit.ts'
import { type Level, Levels } from './names.ts'
import { isChosen, isMade, isSecretUnder, isSureValue } from './opaque.ts'
import { isPlaceholder, isResource } from './placeholders.ts'
import { isQuoted, quotedValue, unquotedEnd } from './values.ts'

/** The longest line and the most rows looked at. */
const MAX_LINE = 400
const MAX_ROWS = 50

const AROUND = new Set(Array.from(' "\'`*'))
const DELIMITERS = new Set(['|', ',', ';', '\t'])
const FIELD = /^[\s"'`*_#]*[\p{L}\p{N}_.# ()/-]{0,48}[\s"'`*_:]*$/u
const RULE = /^[\s|+:=-]*$/
/** Statements that name columns before their values. */
const VALUES = /^[^()\n]{0,400}\)\s{0,40}VALUES?\s{0,40}(?=\()/i

/** The sign that divides the columns around a name: the first on either side of it, behind blanks and quotes. */
const delimiterAt = (text: string, start: number, end: number): string | undefined => {
  let at = start - 1
  while (at > start - 40 && AROUND.has(text.charAt(at))) at--
  if (DELIMITERS.has(text.charAt(at))) return text.charAt(at)
  at = end
  while (at < end + 40 && AROUND.has(text.charAt(at))) at++
  return DELIMITERS.has(text.charAt(at)) ? text.charAt(at) : undefined
}

/** Where the line ends that goes on at `from`; undefined if it is longer than is looked at. */
const lineEndAt = (text: string, from: number): number | undefined => {
  const at = text.slice(from, from + MAX_LINE).indexOf('\n')
  return at !== -1 ? from + at : text.length - from <= MAX_LINE ? text.length : undefined
}

const lineAround = (text: string, start: number, end: number): readonly [from: number, to: number] | undefined => {
  const first = Math.max(0, start - MAX_LINE)
  const before = text.slice(first, start).lastIndexOf('\n')
  if (before === -1 && first > 0) return undefined
  const to = lineEndAt(text, end)
  return to === undefined ? undefined : [first + before + 1, to]
}

const addField = (scan: Pass, start: number, field: string): void => {
  const lead = /^[\s"'`*]*/.exec(field)?.[0].length ?? 0
  const value = field.slice(lead).replace(/[\s"'`*]+$/, '')
  if (isChosen(value)) scan.hits.push({ start: start + lead, end: start + lead + value.length, kind: 'name' })
}

/** The values of one column in the lines behind its header. */
const columnBelow = (scan: Pass, from: number, delimiter: string, place: number, columns: number): void => {
  const { text } = scan
  let at = from
  for (let row = 0; row < MAX_ROWS && at < text.length; row++) {
    const end = lineEndAt(text, at)
    if (end === undefined) return
    const line = text.slice(at, end)
    scan.spend(line.length + 20)
    const isRow = !RULE.test(line)
    const fields = line.split(delimiter)
    if (isRow && fields.length !== columns) return
    const before = fields.slice(0, place).reduce((sum, field) => sum + field.length + 1, 0)
    if (isRow) addField(scan, at + before, fields[place] ?? '')
    at = end + 1
  }
}

/** The values at one place of the tuples behind `VALUES`. */
const tuples = (scan: Pass, from: number, place: number): void => {
  const { text } = scan
  let at = from
  for (let row = 0; row < MAX_ROWS; row++) {
    const tuple = /^\s{0,40},?\s{0,40}\(((?:'[^'\n]{0,300}'|"[^"\n]{0,300}"|[^()'"\n]){1,100})\)/.exec(
      text.slice(at, at + 2_000),
    )
    if (tuple === null) return
    scan.spend(tuple[0].length)
    let start = at + tuple[0].length - 1 - (tuple[1] ?? '').length
    for (const [index, field] of (tuple[1] ?? '').split(',').entries()) {
      if (index === place) addField(scan, start, field)
      start += field.length + 1
    }
    at += tuple[0].length
  }
}

/** The name from `start` to `end` heads a column: what stands below it and looks like a secret is added to the hits. */
const column = (scan: Pass, start: number, end: number): void => {
  const { text } = scan
  const delimiter = delimiterAt(text, start, end)
  const around = delimiter === undefined ? undefined : lineAround(text, start, end)
  if (delimiter === undefined || around === undefined) return
  const [from, to] = around
  if (inStatement(scan, start, end, from, to)) return
  const header = text.slice(from, to)
  const fields = header.split(delimiter)
  if (fields.length < 2 || !fields.every((field) => FIELD.test(field)) || isDigit(header.charCodeAt(0))) return
  columnBelow(scan, to + 1, delimiter, text.slice(from, start).split(delimiter).length - 1, fields.length)
}

/** The name is one of the columns that a statement of SQL names before their values. */
const inStatement = (scan: Pass, start: number, end: number, from: number, to: number): boolean => {
  const { text } = scan
  const before = text.slice(from, start)
  const bracket = before.lastIndexOf('(')
  if (bracket === -1) return false
  const place = before.slice(bracket).split(',').length - 1
  const values = VALUES.exec(text.slice(end, end + 500))
  if (values !== null) tuples(scan, end + values[0].length, place)
  const isCopied = values === null && /^\s*COPY\s[^(\n]{1,100}\($/i.test(before.slice(0, bracket + 1))
  if (isCopied) {
    const names =
      text
        .slice(from + bracket, to)
        .split(')')[0]
        ?.split(',') ?? []
    columnBelow(scan, to + 1, '\t', place, names.length)
  }
  return values !== null || isCopied
}

/** The same for columns that stand under each other, with several blanks between them. */
const aligned = (scan: Pass, start: number, end: number): void => {
  const { text } = scan
  if (text[end] !== '\n' && text[end] !== '\r' && !text.startsWith('  ', end)) return
  const around = lineAround(text, start, end)
  if (around === undefined) return
  const [from, to] = around
  const heads = text.slice(from, to).trim().split(/ {2,}/)
  if (heads.length < 2 || !heads.every((head) => /^[A-Z][A-Z0-9 _-]{1,30}$/.test(head))) return
  const place = text.slice(from, start).trimStart().split(/ {2,}/).length - 1
  let at = to + 1
  for (let row = 0; row < MAX_ROWS && at < text.length; row++) {
    const stop = lineEndAt(text, at)
    if (stop === undefined) return
    const line = text.slice(at, stop)
    scan.spend(line.length + 20)
    const field = line.trim().split(/ {2,}/)[place]
    if (field === undefined) return
    addField(scan, at + line.indexOf(field), field)
    at = stop + 1
  }
}

/** The longest name looked at. */
const MAX_NAME = 64
/** How far behind a name its value may stand, and how many tokens between them. */
const REACH = 160
const MAX_TOKENS = 10
/** Steps of reading what stands behind a name. */
const STEPS = 260

/** The name goes on, or nothing can follow it. */
const GOES_ON = new Set('_;>')
const OPENS = new Set('(=:.')

/** Hashes of the last four letters of words that a name with a value ends in: 1 everywhere, 2 where a call or a sign follows. */
const ENDINGS = new Uint8Array(32_768)
const placeOf = (text: string, end: number, fourth = text.charCodeAt(end - 4)): number =>
  (((text.charCodeAt(end - 3) & 31) << 10) | ((text.charCodeAt(end - 2) & 31) << 5) | (text.charCodeAt(end - 1) & 31)) ^
  ((fourth & 31) * 1057)
const enter = (words: string, how = 1): void => {
  for (const word of words.split(' ')) {
    if (word.length > 3) ENDINGS[placeOf(word, word.length)] ||= how
    else for (let fourth = 0; fourth < 32; fourth++) ENDINGS[placeOf(word, word.length, fourth)] ||= how
  }
}
enter('password passwords passwd pwd passphrase passcode secret secrets credentials creds token tokens tkn key otp psk')
enter(
  'secretstr secretstring hmac phrase contraseña authtok pass passwort senha contrasena parola passe heslo salasana kode sifre',
)
enter('auth')
enter(
  'login begin Credential PasswordAuthentication getConnection mysqli_connect createHmac createHash encode sign PDO',
  2,
)

/** The word that ends here may be the end of a name whose value follows. */
export const mayTell = (text: string, end: number): boolean => {
  const how = ENDINGS[placeOf(text, end)]
  return how === 1 || (how === 2 && OPENS.has(text.charAt(end)))
}

/** What was read between a name and its value. */
interface Between {
  /** Where the value begins. */
  readonly from: number
  /** A sign that assigns stands between. */
  readonly assigns: boolean
}

const ASSIGNS = /(?:\|\||\/\/|\?\?|:)?=>?|<-|->|<<<|→|➜|⇒/y
const FILLER = /(?:string\(\d{1,6}\)|'static |[A-Za-z_][\w.]{0,24}(?:<[^<>\n]{0,40}>|\[\])?\??)/y
const SIGNS = /[()[\]{}<,:.?!*&@]/

/** The type of a declaration in front of its sign, the argument that names the value, a here-string. */
const DECLARED =
  /(?!-(?!prompt|stdin))[ \t]{0,4}(?::|,|as\b)?[\w.<>[\]()*&?,' -]{0,60}?[ \t]*(?:\{ ?get; ?(?:\w+ )?(?:set|init); ?\}[ \t]*)?(?::?=(?![=>])|<<<|(?:\b|-)value\b|\bdefault\w*[:=]|\b(?:with|text):)[ \t]*(?=\\?["'`]|[a-z@]["'])/iy

const CLOSING = /^(?:\\?["'`]\)?|\]){0,3}/

/** Reads over signs, a type and a wrapper up to a literal in quotes. */
class Bridge {
  readonly #text: string
  readonly #end: number
  #at: number
  #assigns = false
  #opened = false
  #fillers = 0
  #before = ''

  constructor(text: string, end: number) {
    this.#text = text
    this.#end = end
    this.#at = end + (CLOSING.exec(text.slice(end, end + 8))?.[0].length ?? 0)
    if (this.#at > end) this.#before = text.charAt(this.#at - 1)
  }

  /** Where the literal begins; undefined if none follows within a few tokens. */
  literal(): Between | undefined {
    const text = this.#text
    const declared = matchEnd(DECLARED, text, this.#at)
    if (declared !== undefined) return { from: declared, assigns: true }
    const last = Math.min(text.length, this.#end + REACH)
    for (let count = 0; count < MAX_TOKENS && this.#at < last; count++) {
      while (isBlank(text.charCodeAt(this.#at))) this.#at++
      if (isQuoted(text, this.#at) && !text.startsWith("'static ", this.#at)) return this.#found()
      if (!this.#lineEnd() && !this.#sign() && !this.#filler()) return undefined
    }
    return undefined
  }

  #found(): Between | undefined {
    return this.#opened || this.#at > this.#end ? { from: this.#at, assigns: this.#assigns } : undefined
  }

  #lineEnd(): boolean {
    if (this.#text[this.#at] !== '\n' || !'>{('.includes(this.#before || ' ')) return false
    this.#at++
    return true
  }

  #sign(): boolean {
    ASSIGNS.lastIndex = this.#at
    const assigns = ASSIGNS.exec(this.#text)?.[0]
    const sign = assigns ?? this.#text.charAt(this.#at)
    if (assigns === undefined && !SIGNS.test(sign)) return false
    this.#assigns ||= assigns !== undefined
    this.#opened = true
    this.#before = sign.slice(-1)
    this.#at += sign.length
    return true
  }

  /** A type, or a word that wraps the value. */
  #filler(): boolean {
    if (this.#before === ',' || ++this.#fillers > 4) return false
    FILLER.lastIndex = this.#at
    const filler = FILLER.exec(this.#text)?.[0]
    if (filler === undefined || !this.#mayFill()) return false
    this.#before = 'a'
    this.#at += filler.length
    return true
  }

  #mayFill(): boolean {
    return this.#opened && (this.#assigns || this.#fillers === 1 || ':.&['.includes(this.#before))
  }
}

/** Marks of Markdown, quotes and leaders between a name and a value in running text, with the words that join them. */
const JOINED =
  /["'`\])]{0,3}(?:\*\*|__|\*|~~)?[ \t]{0,8}(?:(?:is|was|has been|are)(?:[ \t]+(?:now|set to|set as|reset to))?:?|(?:now )?(?:set|changed|reset) to:?|=>|->|[:=|]|[-–—]|→|➜|\.{2,40}|\u2026|\d(?=[ \t]))?[ \t]{0,16}(?:\*\*|__|\*|["'`]){0,3}[ \t]{0,4}/y
/** Words of a sentence up to a colon or a verb, as programs and people write: `for user postgres: `. */
const SAID =
  /["'`)\]]{0,2}(?:[ \t]+[\p{L}\p{M}\p{N}'’(),./@+_~-]{1,40}){0,10}?[ \t]{0,4}(?:[:：=]|(?<=[ \t])(?:is|was|to|es|est|är|er|jest):?)[ \t]+["'`«*]{0,3}[ \t]?(?=\S)/uy
/** A sentence that ends in a colon, with the value on a line of its own. */
const BELOW = /(?:[^\n:]{0,120}:)?[ \t]*\r?\n(?:[ \t]*\r?\n){0,2}[ \t]*(?=\S+[ \t]*(?:\r?\n|$))/y

const ASKS = new Set(' :\'"`\n')

const matchEnd = (pattern: RegExp, text: string, at: number): number | undefined => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** The bare word that begins at `from`, without the signs that end a sentence or close a mark. */
const wordAt = (text: string, from: number): Hit | undefined => {
  if (marksAt(text, from)) return undefined
  const end = unquotedEnd(text, from, 300)
  const value = text.slice(from, end).replace(/(?:[.,;:!?]|\*\*|__|[`"')\]|])+$/, '')
  return value.length < 6 ? undefined : { start: from, end: from + value.length, kind: 'name' }
}

/** The word behind a name without quotes: behind a sign or a verb, or right behind a blank. */
const joinedWord = (text: string, name: string, end: number): Hit | undefined => {
  const joined = matchEnd(JOINED, text, end) ?? end
  const hit = joined === end ? undefined : wordAt(text, joined)
  if (hit === undefined) return undefined
  const value = text.slice(hit.start, hit.end)
  const isApart = /^[ \t]+(?:\d[ \t]+)?$/.test(text.slice(end, joined))
  // `get secret app-token-x7k2p` names an object
  if (isApart && /^[a-z]+(?:-[a-z0-9]+)+$/.test(value)) return undefined
  return isChosen(value) && !(isApart && name.includes('.') && !isMade(value)) ? hit : undefined
}

/** No value is chosen without one of these. */
const CHOSEN_SIGN = /[\d!#%^*+=~&$@]/

const bareAfter = (text: string, name: string, end: number): Hit | undefined => {
  if (!CHOSEN_SIGN.test(text.slice(end, end + 2 * REACH))) return undefined
  const joined = joinedWord(text, name, end)
  if (joined !== undefined || !ASKS.has(text.charAt(end))) return joined
  return saidAfter(text, end) ?? belowAfter(text, end)
}

const saidAfter = (text: string, end: number): Hit | undefined => {
  let at = matchEnd(SAID, text, end)
  for (let joints = 0; joints < 3 && at !== undefined; joints++) {
    const hit = wordAt(text, at)
    const value = hit === undefined ? '' : text.slice(hit.start, hit.end)
    if (isChosen(value) && !NAMES_ONE.test(value)) return hit
    at = matchEnd(SAID, text, at - 1)
  }
  return undefined
}

const belowAfter = (text: string, end: number): Hit | undefined => {
  const below = matchEnd(BELOW, text, end)
  const hit = below === undefined ? undefined : wordAt(text, below)
  if (hit === undefined) return undefined
  const isValue = text.slice(end, hit.start).includes(':') ? isChosen : isMade
  return isValue(text.slice(hit.start, hit.end)) ? hit : undefined
}
/** Ids and names of things, of which sentences speak as well. */
const NAMES_ONE = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-|[a-z]+\d{0,3}(?:-[a-z0-9]+)+$|[a-z]{2,12}_\w+$)/

/** A name ends at `end`, and its value follows it within a few tokens, whatever stands between; what is found is added to the hits. */
export const telling = (scan: Pass, wordStart: number, end: number): void => {
  const { text, rules } = scan
  if (GOES_ON.has(text.charAt(end)) && !/^__(?![A-Za-z0-9])/.test(text.slice(end, end + 3))) return
  const start = Math.min(wordStart, nameStart(text, end, MAX_NAME))
  if (isResource(text, start)) return
  const name = text.slice(start, end)
  const level = rules.levelOf(name) || levelOfTwo(scan, start, name)
  if (OPENS.has(text.charAt(end)) && (level >= Levels.likely || LOGIN.test(text.slice(wordStart, end)))) {
    scan.spend(STEPS)
    callLogin(scan, end)
  }
  if (name === 'secrets') group(scan, end)
  if (level === Levels.none || level === Levels.line || marksAt(text, start - 10)) return
  scan.spend(STEPS)
  column(scan, start, end)
  aligned(scan, start, end)
  argumentBefore(scan, start, end)
  const hit = text[end] === ')' ? undefined : valueAfter(scan, name, end, level)
  if (hit !== undefined) scan.hits.push(hit)
}

/** `API key`: the word that makes `key` sensitive stands before it. */
const levelOfTwo = ({ text, rules }: Pass, start: number, name: string): Level =>
  /^(?:key|phrase)$/i.test(name) && isBlank(text.charCodeAt(start - 1))
    ? rules.levelOf(text.slice(runStart(text, start - 1, PARTS, MAX_NAME), start + name.length))
    : Levels.none

/** A literal of one word: walking to the end of others would cost more than they may hold. */
const ONE_WORD = /(?:\\?["'`]|[a-z@]["'])[^\s"'`]{4,512}["'`]/iy

const valueAfter = (scan: Pass, name: string, end: number, level: Level): Hit | undefined => {
  const { text } = scan
  const next = text.charAt(end)
  if (next === '.' && isAlnum(text.charCodeAt(end + 1))) return undefined
  if (next === '=' && text[end + 1] !== '>' && level >= Levels.certain) return undefined
  const literal = new Bridge(text, end).literal()
  if (literal !== undefined && matchEnd(ONE_WORD, text, literal.from) !== undefined) {
    const hit = quotedValue(text, literal.from, 'name')
    const value = hit === undefined ? '' : text.slice(hit.start, hit.end)
    if (scan.rules.levelOf(value) === Levels.none && isFreeLiteral(value, literal.assigns, level)) return hit
  }
  return level < Levels.likely ? undefined : bareAfter(text, name, end)
}

const isFreeLiteral = (value: string, assigns: boolean, level: Level): boolean => {
  if (isPlaceholder(value)) return false
  if (level < Levels.likely && !isSecretUnder(level, value)) return false
  return assigns && level >= Levels.certain ? isSureValue(value) : isChosen(value)
}
