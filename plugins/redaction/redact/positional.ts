import { isBlank, isDigit, isSpace, runStart, URL64 } from './alphabet.ts'
import { type Hit, marksAt } from './hit.ts'
import { isChosen as isGenerated } from './opaque.ts'
import { isOdd, isPlaceholder } from './placeholders.ts'
import type { Scan, Shape } from './scan.ts'
import { isQuoted, quotedValue } from './values.ts'

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
