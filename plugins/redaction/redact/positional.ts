import { isBlank, isDigit, isSpace, runStart, URL64 } from './alphabet.ts'
import { type Hit, marksAt } from './hit.ts'
import { looksIssued } from './issued.ts'
import { isChosen as isGenerated } from './opaque.ts'
import { isOdd, isPlaceholder } from './placeholders.ts'
import type { Scan, Shape } from './scan.ts'
import { isQuoted, quotedValue } from './values.ts'

/** Steps of looking at what stands around a password. */
const VALUE = 800
/** How far before a password its machine or user may stand. */
const MAX_BEFORE = 300

/** What stands before `password` in an entry of netrc(5): a machine, or the default, with a user or without. */
const ENTRY =
  /(?:^|[\s"'])(machine[ \t\r\n]+\S{1,200}|default)((?:[ \t\r\n]+(?:login|account)[ \t\r\n]+\S{1,128}){0,2})[ \t\r\n]+$/
/** A user before it, in an entry whose machine stands elsewhere. */
const USER = /(?:^|[\s"'])login[ \t]+\S{1,128}[ \t\r\n]+$/
/** The statements of SQL that set a password. */
const STATEMENT = /(?:\b(?:create|alter|set|grant|identified|encrypted|with|user|role|for)\b[^;]{0,200})$/i

const bareValue = (scan: Scan, from: number): Hit | undefined => {
  const end = scan.unquotedEnd(from)
  const value = scan.text.slice(from, Math.min(end, from + 300))
  return value === '' || marksAt(scan.text, from) || isPlaceholder(value)
    ? undefined
    : { start: from, end, kind: 'name' }
}

const afterBlanks = (text: string, from: number): number => {
  let at = from
  while (at < from + 16 && isSpace(text.charCodeAt(at)) && at < text.length) at++
  return at
}

/** `login <user> password <password>` of netrc files, and `PASSWORD '…'` of SQL; triggered at the word. */
export const passwordWord: Shape = (scan, at) => {
  const { text } = scan
  const end = at + 8
  if (!isSpace(text.charCodeAt(end)) || text.slice(at, end).toLowerCase() !== 'password') return undefined
  scan.spend(VALUE)
  const from = valueStart(text, end)
  const before = text.slice(Math.max(0, at - MAX_BEFORE), at)
  if (isQuoted(text, from)) {
    const isSql = text[from] === "'" && (text.startsWith('PASSWORD', at) || STATEMENT.test(before))
    return isSql ? quotedValue(text, from, 'name') : undefined
  }
  const hit = bareValue(scan, from)
  return hit !== undefined && isEntry(before, scan.text.slice(hit.start, Math.min(hit.end, hit.start + 256)))
    ? hit
    : undefined
}

/** Where the value begins: behind the kind of its encoding in a router's configuration, behind the user in SQL. */
const valueStart = (text: string, end: number): number => {
  const between =
    /^\s{1,4}(?:\d[ \t]+(?=\S)|for[ \t]+[^=\n]{1,100}=[ \t]*(?:password\()?(?=')|(?:is|was|:)?[ \t]*)/i.exec(
      text.slice(end, end + 140),
    )
  return afterBlanks(text, end + (between?.[0].length ?? 0))
}

/** A password as people choose it: several kinds of characters, and no name of a method. */
const isChosen = (value: string): boolean =>
  /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z!@#$%^&*+])[\w!@#$%^&*+.?~-]{8,64}$/.test(value) &&
  !/sha-?\d|hmac|rsa|aes|bcrypt|argon|pbkdf|base64|utf-?8|oauth|20\d\d-|v\d/i.test(value) &&
  looksIssued(value, 0, value.length, 4)

/** The value stands in an entry of netrc rather than in a sentence about passwords. */
const isEntry = (before: string, value: string): boolean => {
  const entry = ENTRY.exec(before)
  if ((entry !== null && entry[2] !== '') || isChosen(value)) return true
  return (entry !== null || USER.test(before)) && isOdd(value)
}

/** `IDENTIFIED BY '…'` and `IDENTIFIED WITH plugin BY '…'` of SQL; triggered at the word. */
export const identifiedBy: Shape = ({ text }, at) => {
  const found =
    /^identified(?: +(?:with|via) +[\w"'`]{1,64})? +(?:by|using|as)(?: +values| +password)? +(?=["'])/i.exec(
      text.slice(at, at + 128),
    )
  return found === null ? undefined : quotedValue(text, at + found[0].length, 'name')
}

/** Fields before the password in a line of a pgpass file, from the port on. */
const PGPASS = /^:(\d{2,5}|\*):(\*|[^\s:\\]{1,64}):(\*|[^\s:\\]{1,64}):(?=[^\s:])/
const HOST = /^(?:\*|[A-Za-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,8}|\d{1,3}(?:\.\d{1,3}){3})$/
const SOURCE_FILE =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|c|cc|cpp|h|hpp|cs|php|swift|scala|sh|ya?ml|json|toml|md|html?|s?css|sql|vue|txt|log)$/i
/** Where PostgreSQL and its poolers listen. */
const DATABASE_PORT = /^(?:\*|543\d|6432|6543|26257|25060)$/

/** The password of a line `host:port:database:user:password`; triggered at the first colon. */
export const pgpassLine: Shape = ({ text }, at) => {
  const next = text.charCodeAt(at + 1)
  if (next !== 0x2a && !isDigit(next)) return undefined
  const found = PGPASS.exec(text.slice(at, at + 160))
  if (found === null || /^\d+$/.test(found[2] ?? '') || !isHostBefore(text, at)) return undefined
  const start = at + found[0].length
  const end = fieldEnd(text, start)
  const value = text.slice(start, Math.min(end, start + 256))
  // A further field makes it another kind of list; so does a plain word behind the port of something else.
  const isPassword = text[end] !== ':' && (DATABASE_PORT.test(found[1] ?? '') || isOdd(value))
  return isPassword && !marksAt(text, start) && !isPlaceholder(value) ? { start, end, kind: 'name' } : undefined
}

const isHostBefore = (text: string, at: number): boolean => {
  const start = text[at - 1] === '*' ? at - 1 : hostStart(text, at)
  const host = text.slice(start, at)
  const before = text.charAt(start - 1)
  return (
    (before === '' || isSpace(before.charCodeAt(0)) || QUOTES.has(before)) && HOST.test(host) && !SOURCE_FILE.test(host)
  )
}

const QUOTES = new Set(['"', "'", '`'])

/** The end of a field in which a backslash stands before each colon. */
const fieldEnd = (text: string, from: number): number => {
  let end = from
  while (end < text.length && !isSpace(text.charCodeAt(end)) && text[end] !== ':' && !QUOTES.has(text.charAt(end))) {
    if (text[end] === '\\') {
      if (/[nr"]/.test(text.charAt(end + 1))) break
      end++
    }
    end++
  }
  return Math.min(end, text.length)
}

const hostStart = (text: string, end: number): number => {
  let start = end
  while (start > 0 && end - start < 256) {
    const run = runStart(text, start, URL64, 64)
    if (run === start && text[start - 1] !== '.') break
    start = run === start ? start - 1 : run
  }
  return start
}

/** Settings of servers with the password behind a blank: redis.conf, slapd.conf, kickstart files. */
export const serverSetting: Shape = (scan, at) => {
  const { text } = scan
  const found =
    /^(?:requirepass|masterauth|rootpw|bindpw|olcRootPW)[ \t]+(?:--(?:plaintext|iscrypted)[ \t]+)?(?=\S)/.exec(
      text.slice(at, at + 64),
    )
  if (found === null) return undefined
  const from = at + found[0].length
  return isQuoted(text, from) ? quotedValue(text, from, 'name') : bareValue(scan, from)
}

/** Logins of mail and file transfer as they go over the wire: `AUTH PLAIN …`, `PASS …` behind `USER …`. */
export const wireLogin: Shape = (scan, at) => {
  const { text } = scan
  const auth = /^AUTH[ =](?:PLAIN|LOGIN|XOAUTH2|CRAM-MD5)[ \t]+(?=[A-Za-z0-9+/]{8})/.exec(text.slice(at, at + 40))
  if (auth !== null) return bareValue(scan, at + auth[0].length)
  const command = /^(?:AUTH|PASS|LOGIN)[ \t]+(?:[\w@."-]{1,64}[ \t]+)?(?=\S{8,200}[ \t]*(?:\r?\n|$))/.exec(
    text.slice(at, at + 300),
  )
  if (command !== null && /(?:^|\n)[\w.*-]{0,8} ?$/.test(text.slice(Math.max(0, at - 12), at))) {
    const hit = bareValue(scan, at + command[0].length)
    if (hit !== undefined && isGenerated(text.slice(hit.start, hit.end))) return hit
  }
  if (!text.startsWith('PASS', at) || !isBlank(text.charCodeAt(at + 4))) return undefined
  const before = text.slice(Math.max(0, at - 200), at)
  if (!/(?:^|\n)[^\n]{0,16}(?:USER \S{1,64}|331 [^\n]{0,100})\r?\n(?:[^\n]{0,80}\r?\n)?[^\n]{0,16}$/.test(before))
    return undefined
  return bareValue(scan, afterBlanks(text, at + 4))
}
