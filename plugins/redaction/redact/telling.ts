import { isAlnum, isBlank, PARTS, runStart } from './alphabet.ts'
import { type Hit, marksAt } from './hit.ts'
import { type Level, Levels } from './names.ts'
import { isChosen, isMade, isSecretUnder, isSureValue } from './opaque.ts'
import { isPlaceholder } from './placeholders.ts'
import type { Scan } from './scan.ts'
import { aligned, column } from './tables.ts'
import { isQuoted, quotedValue, unquotedEnd } from './values.ts'

/** The longest name looked at. */
const MAX_NAME = 64
/** How far behind a name its value may stand, and how many tokens between them. */
const REACH = 160
const MAX_TOKENS = 10
/** Steps of reading what stands behind a name. */
const STEPS = 260

/** Names that take a user and a password in a call. */
const LOGIN =
  /^(?:login|auth|HTTPBasicAuth|SetBasicAuth|basicAuth|basic_auth|NetworkCredential|UsernamePasswordCredentials|PasswordAuthentication|getConnection|mysqli_connect|mysql_connect|pg_connect|PDO|connect|sign|encode|createHmac|createHash)$/

/** The name goes on, or nothing can follow it. */
const GOES_ON = new Set('_;>')
const OPENS = new Set('(=:')

/** The last three letters of words that a name with a value ends in, five bits a letter. */
const ENDINGS = new Uint8Array(32_768)
const placeOf = (text: string, end: number): number =>
  ((text.charCodeAt(end - 3) & 31) << 10) | ((text.charCodeAt(end - 2) & 31) << 5) | (text.charCodeAt(end - 1) & 31)
const enter = (words: string): void => {
  for (const word of words.split(' ')) ENDINGS[placeOf(word, word.length)] = 1
}
enter('password passwords passwd pwd passphrase passcode secret secrets credentials creds token tokens tkn key otp psk')
enter('authtok pass passwort senha contrasena parola passe heslo salasana kode sifre')
enter('login auth BasicAuth Credential PasswordAuthentication getConnection mysqli_connect createHmac encode')
ENDINGS[placeOf('xPDO', 4)] = 1
ENDINGS[placeOf('sign', 4)] = 1

/** The word that ends here may be the end of a name whose value follows. */
export const mayTell = (text: string, end: number): boolean => ENDINGS[placeOf(text, end)] === 1

/** What was read between a name and its value. */
interface Between {
  /** Where the value begins. */
  readonly from: number
  /** A sign that assigns stands between. */
  readonly assigns: boolean
}

const ASSIGNS = /(?:\|\||\/\/|\?\?|:)?=>?|<-|->|<<<|→|➜|⇒/y
const FILLER = /(?:string\(\d{1,6}\)|'static |[A-Za-z_][\w.]{0,24}(?:<[^<>\n]{0,40}>|\[\])?\??)/y
const SIGNS = /[()[\]{},:.?!*&@]/

/** The type of a declaration in front of its sign. */
const TYPED = /^(?:As )?[A-Za-z][\w.]{0,24}(?:\[\])? {0,4}:?=(?!=)/

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
    if (!this.#opened) return TYPED.test(this.#text.slice(this.#at, this.#at + 60))
    return this.#assigns || this.#fillers === 1 || ':.&['.includes(this.#before)
  }
}

/** Marks of Markdown, quotes and leaders between a name and a value in running text, with the words that join them. */
const JOINED =
  /["'`\])]{0,3}(?:\*\*|__|\*|~~)?[ \t]{0,8}(?:(?:is|was|has been|are)(?:[ \t]+(?:now|set to|set as|reset to))?:?|(?:now )?(?:set|changed|reset) to:?|=>|->|[:=|]|[-–—]|→|➜|\.{2,40}|\u2026|\d(?=[ \t]))?[ \t]{0,16}(?:\*\*|__|\*|["'`]){0,3}[ \t]{0,4}/y
/** `for user postgres: `, as programs ask. */
const PROMPT = /(?:["'`])?[ \t]+(?:for|of|to)[ \t][^\n:]{1,120}:[ \t]+(?=\S)/y
/** A sentence that ends in a colon, with the value on a line of its own. */
const BELOW = /[^\n:]{0,120}:[ \t]*\r?\n(?:[ \t]*\r?\n){0,2}[ \t]*(?=\S+[ \t]*(?:\r?\n|$))/y

const ASKS = new Set(' :\'"`')

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
  return isChosen(value) && !(isApart && name.includes('.') && !isMade(value)) ? hit : undefined
}

const bareAfter = (text: string, name: string, end: number): Hit | undefined => {
  const joined = joinedWord(text, name, end)
  if (joined !== undefined || !ASKS.has(text.charAt(end))) return joined
  const asked = matchEnd(PROMPT, text, end) ?? matchEnd(BELOW, text, end)
  const hit = asked === undefined ? undefined : wordAt(text, asked)
  return hit !== undefined && isChosen(text.slice(hit.start, hit.end)) ? hit : undefined
}

/** The literals of a call that takes a user and a password: the last that looks like one. */
const callLogin = (scan: Scan, end: number): void => {
  const found = /^\s?=?\s?(?:new\s)?\w{0,20}[({[]([^)\n]{0,300})/.exec(scan.text.slice(end, end + 340))
  if (found === null) return
  const from = end + found[0].length - (found[1] ?? '').length
  for (const { index, 2: value = '' } of (found[1] ?? '').matchAll(/(["'])([^"'\n]{6,200})\1/g)) {
    const start = from + index + 1
    if (isChosen(value) && !/[:/@]/.test(value)) scan.hits.push({ start, end: start + value.length, kind: 'name' })
  }
}

/** A name ends at `end`, and its value follows it within a few tokens, whatever stands between; what is found is added to the hits. */
export const telling = (scan: Scan, wordStart: number, end: number): void => {
  const { text, rules } = scan
  if (GOES_ON.has(text.charAt(end)) && !/^__(?![A-Za-z0-9])/.test(text.slice(end, end + 3))) return
  const start = Math.min(wordStart, runStart(text, end, PARTS, MAX_NAME))
  const name = text.slice(start, end)
  if (OPENS.has(text.charAt(end)) && LOGIN.test(text.slice(wordStart, end))) {
    scan.spend(STEPS)
    callLogin(scan, end)
  }
  const level = rules.levelOf(name) || levelOfTwo(scan, start, name)
  if (level === Levels.none || level === Levels.line || marksAt(text, start - 10)) return
  scan.spend(STEPS)
  column(scan, start, end)
  aligned(scan, start, end)
  const hit = text[end] === ')' ? undefined : valueAfter(scan, name, end, level)
  if (hit !== undefined) scan.hits.push(hit)
}

/** `API key`: the word that makes `key` sensitive stands before it. */
const levelOfTwo = ({ text, rules }: Scan, start: number, name: string): Level =>
  /^key$/i.test(name) && isBlank(text.charCodeAt(start - 1))
    ? rules.levelOf(text.slice(runStart(text, start - 1, PARTS, MAX_NAME), start + name.length))
    : Levels.none

const valueAfter = (scan: Scan, name: string, end: number, level: Level): Hit | undefined => {
  const { text } = scan
  const next = text.charAt(end)
  if (next === '.' && isAlnum(text.charCodeAt(end + 1))) return undefined
  if (next === '=' && text[end + 1] !== '>' && level >= Levels.certain) return undefined
  const literal = new Bridge(text, end).literal()
  if (literal !== undefined) {
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
