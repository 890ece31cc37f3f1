import { ADDRESS, isAlnum, isDigit, isSpace, runStart } from './alphabet.ts'
import { type Hit, marksAt } from './hit.ts'
import { isNoValue, isPlaceholder } from './placeholders.ts'
import type { Scan } from './scan.ts'

/** Steps of reading what stands before a host, or before the sign of an address. */
const HOST = 200
/** The longest user and password in front of a host. */
const MAX_USERINFO = 512
const STOPS = new Set(['"', "'", '`', '<', '>', '|', '^'])

/** The offset of the `@` that ends user and password; undefined if there are none. */
const userinfoEnd = (text: string, from: number): number | undefined => {
  let end: number | undefined
  const last = Math.min(text.length, from + MAX_USERINFO)
  for (let at = from; at < last; at++) {
    const sign = text.charAt(at)
    if (isSpace(sign.charCodeAt(0)) || STOPS.has(sign)) break
    if (sign === '@') end = at
    // Passwords hold slashes against the rules; then a colon stands before, and no port.
    if ((sign === '/' || sign === '?' || sign === '#') && !mayBePassword(text, from, at, end)) break
  }
  return end
}

const mayBePassword = (text: string, from: number, at: number, found: number | undefined): boolean => {
  if (found !== undefined) return false
  const colon = text.slice(from, at).indexOf(':')
  if (colon === -1 || text.startsWith('//', at)) return false
  return !/^\d{1,5}$/.test(text.slice(from + colon + 1, at))
}

/** Alone in front of the `@` it is a user, unless it is as long and mixed as keys are. */
const looksLikeKey = (user: string): boolean =>
  user.length >= 16 && /\d/.test(user) && /[A-Za-z]/.test(user) && !user.includes(' ')

/** The password in `scheme://user:password@host`; triggered at the colon. */
export const userinfo = (scan: Scan, at: number): Hit | undefined => {
  const { text } = scan
  if (text[at + 1] !== '/' || text[at + 2] !== '/' || !isAlnum(text.charCodeAt(at - 1))) return undefined
  scan.spend(HOST)
  const from = at + 3
  const end = userinfoEnd(text, from)
  if (end === undefined) return undefined
  const info = text.slice(from, end)
  const colon = info.indexOf(':')
  if (marksAt(text, from) || (colon === -1 && !looksLikeKey(info))) return undefined
  const start = colon === -1 ? from : from + colon + 1
  const password = text.slice(start, end)
  return isPlaceholder(password) || isNoValue(password) || marksAt(text, start)
    ? undefined
    : { start, end, kind: 'url' }
}

/** The password in `user:password@tcp(host)/database`, as Go writes it; triggered at the `@`. */
export const driverAddress = ({ text }: Scan, at: number): Hit | undefined => {
  if (!/^@(?:tcp|tcp6|unix)\(/.test(text.slice(at, at + 6))) return undefined
  const start = runStart(text, at, ADDRESS, 128)
  const colon = text.slice(start, at).indexOf(':')
  const from = start + colon + 1
  return colon === -1 || from === at ? undefined : { start: from, end: at, kind: 'url' }
}

const FILE_ENDINGS = new Set(
  'png jpg jpeg gif svg webp avif ico bmp js mjs cjs ts tsx jsx css scss json yml yaml md txt html xml py rb go rs java lock map service'.split(
    ' ',
  ),
)

/** A domain: labels, full stops, and a last label of letters that no file ends in. */
const domainEnd = (text: string, from: number): number | undefined => {
  const found = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}([A-Za-z]{2,24})/.exec(
    text.slice(from, from + 254),
  )
  if (found === null || FILE_ENDINGS.has((found[1] ?? '').toLowerCase())) return undefined
  return from + found[0].length
}

const LOCAL = /[A-Za-z0-9._%+'-]/

/** A mail address; triggered at the `@`. The user `git` of an SSH address is none. */
export const email = (scan: Scan, at: number): Hit | undefined => {
  const { text, rules } = scan
  if (!rules.emails) return undefined
  scan.spend(HOST)
  let start = at
  while (start > at - 64 && start > 0 && LOCAL.test(text.charAt(start - 1))) start--
  while (start < at && !isAlnum(text.charCodeAt(start))) start++
  if (start === at || text.slice(start, at) === 'git' || text.startsWith('//', start - 2)) return undefined
  const end = domainEnd(text, at + 1)
  return end === undefined || isDigit(text.charCodeAt(end)) ? undefined : { start, end, kind: 'email' }
}
