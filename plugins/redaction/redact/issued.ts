import { ALNUM, classOf, HEX, isAlnum, isDigit, isLetter, runEnd, runStart, URL64 } from './alphabet.ts'
import type { Hit } from './hit.ts'

const isLower = (unit: number): boolean => isLetter(unit) && unit >= 0x61

/** The characters from `from` to `end` divided into words, numbers and single capitals, as a reader would: `my`, `Long`, `Name`, `42`. */
const divisions = (text: string, from: number, end: number): { pieces: number; digits: number; signs: number } => {
  let pieces = 0
  let digits = 0
  let signs = 0
  let last = 0
  for (let at = from; at < end; at++) {
    const unit = text.charCodeAt(at)
    if (!isAlnum(unit)) {
      signs++
      last = 0
      continue
    }
    if (isDigit(unit)) digits++
    const goesOn = isDigit(unit) ? isDigit(last) : isLower(unit) && isLetter(last)
    if (!goesOn) pieces++
    last = unit
  }
  return { pieces, digits, signs }
}

/** Made by a generator rather than written: its pieces are shorter than those of names, `mean` characters on average at most. */
export const looksIssued = (text: string, from: number, end: number, mean = 3): boolean => {
  const { pieces, digits, signs } = divisions(text, from, end)
  return digits > 0 && pieces > 1 && (end - from - signs) / pieces <= mean
}

/** Shorter tails are not judged without a vendor's rule; a tail behind a plain word must be longer. */
const MIN_TAIL = 20
const MIN_PLAIN_TAIL = 32
const MAX_PREFIX = 24

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))
/** Parts of a prefix that say "secret" whatever follows, and those that say it of what is no hash. */
const SECRET = words('sk rk pat sat psk secret secretkey apikey token tok pwd password passwd')
const KEY = words('key api ak auth access refresh priv private bearer live prod sess oauth')
/** Parts of a prefix that say "this may be shown": identifiers, digests, public keys. */
const PUBLIC_PARTS = words(
  'pk pub public publishable phc id ids uid uuid cid sid hash digest etag sum checksum sha sha1 sha256 sha384 sha512 md5 h1 rev commit tree blob ref build cache chunk asset index main vendor img image file msg message req request resp response run task trace span thread call chatcmpl cmpl tool toolu event evt item gen batch cs pi ch cus sub seti price acct order user org proj project team node pod',
)

/** Lower-case parts before the divider at `at`, with nothing joined before them; undefined if that is no prefix. */
const prefixBefore = (text: string, at: number): readonly string[] | undefined => {
  const start = runStart(text, at, URL64, MAX_PREFIX + 1)
  const before = text.charCodeAt(start - 1)
  const joined = before === 0x2f
  if (at - start > MAX_PREFIX || joined) return undefined
  const prefix = text.slice(start, at)
  return /^[a-z][a-z0-9]{1,11}(?:[_-][a-z0-9]{1,8}){0,3}$/.test(prefix) ? prefix.split(/[_-]/) : undefined
}

const isHex = (text: string, from: number, end: number): boolean => runEnd(text, from, HEX) >= end

/** A random tail of this length behind these parts is a secret. */
const isSecretTail = (text: string, from: number, end: number, parts: readonly string[]): boolean => {
  if (parts.some((part) => PUBLIC_PARTS.has(part))) return false
  const tail = text.slice(from, end)
  const mixed = /[a-z]/.test(tail) && /[A-Z]/.test(tail) && /\d/.test(tail)
  if (mixed && tail.length >= MIN_PLAIN_TAIL) return looksIssued(text, from, end, 2.6)
  if (parts.some((part) => SECRET.has(part))) return looksIssued(text, from, end, mixed ? 3 : 4)
  return parts.some((part) => KEY.has(part)) && !isHex(text, from, end) && looksIssued(text, from, end, mixed ? 3 : 4)
}

/** A token of a vendor nobody listed: a short prefix in small letters, a divider, a long run made by a generator; triggered at the divider. */
export const issuedToken = ({ text }: { readonly text: string }, at: number): Hit | undefined => {
  if ((classOf(text.charCodeAt(at + MIN_TAIL)) & ALNUM) === 0 || !isAlnum(text.charCodeAt(at + 1))) return undefined
  const end = runEnd(text, at + 1, ALNUM, 1_024)
  if (end - at <= MIN_TAIL) return undefined
  const parts = prefixBefore(text, at)
  if (parts === undefined) return namedTail(text, at, end)
  if (!isSecretTail(text, at + 1, end, parts)) return undefined
  const start = runStart(text, at, URL64, MAX_PREFIX)
  return { start, end: runEnd(text, end, URL64), kind: 'key' }
}

/** The tail behind `_secret_`, whatever stands before it: the client secrets of payment services name what they open. */
const namedTail = (text: string, at: number, end: number): Hit | undefined =>
  /[_-]secret$/.test(text.slice(Math.max(0, at - 7), at)) && looksIssued(text, at + 1, end)
    ? { start: runStart(text, at, URL64, 64), end, kind: 'key' }
    : undefined

/**
 * Azure's keys carry a signature of the service in a fixed place. By the length of the key without its padding:
 * where the signature begins. Source: Microsoft security-utilities, "identifiable keys" (SEC101/152 to SEC101/245).
 */
const AZURE_PLACES: Readonly<Record<number, number>> = { 43: 33, 52: 42, 54: 44, 86: 76 }
const SIGNATURES = new Set('APIM ACDb +ABa +AMC +ASt +ARm +AEh +ASb AIoT AzCa AZEG AzFu AzSe +ACR'.split(' '))

/** Keys of all newer services: 84 characters, this behind the first 52. */
const COMMON = 'JQQJ9'
const COMMON_LENGTHS: ReadonlySet<number> = new Set([76, 80, 82, 84, 86])

const isKeyAt = (text: string, start: number, length: number): boolean => {
  const place = AZURE_PLACES[length]
  if (place !== undefined && SIGNATURES.has(text.slice(start + place, start + place + 4))) return true
  return COMMON_LENGTHS.has(length) && text.startsWith(COMMON, start + 52)
}

/** A key of an Azure service that fills a whole run of base64, its padding left out, or all but a sign in front of it. */
export const azureKey = (text: string, start: number, end: number): Hit | undefined => {
  const length = end - start
  // RapidAPI; a licence of New Relic
  const isOther =
    (length === 50 && text.startsWith('msh', start + 10) && text.startsWith('jsn', start + 35)) ||
    (length === 40 && text.startsWith('NRAL', end - 4))
  if (isOther) return { start, end, kind: 'key' }
  if (length < 43 || length > 87) return undefined
  const from = isKeyAt(text, start, end - start) ? start : start + 1
  return isKeyAt(text, from, end - from) ? { start: from, end, kind: 'key' } : undefined
}
