import { ALNUM, classOf, HEX, isDigit, OPAQUE, runEnd, runStart, URL64 } from './alphabet.ts'
import { LONG } from './keys/rule.ts'
import type { Shape } from './scan.ts'

/** What stands before a full stop, and after it, in keys of parts; what stands before must fill its run. */
const DOTTED: readonly (readonly [before: RegExp, after: RegExp])[] = [
  // a Discord bot: its number in base64url, a time, a signature
  [/(?:^|[^\w-])([MNO][\w-]{22,27})$/, /^[\w-]{6}\.[\w-]{27,40}(?![\w-])/],
  // Zhipu
  [/(?:^|[^\w-])([0-9a-f]{32})$/, /^[A-Za-z0-9]{16}(?![\w-])/],
  // a machine account of Bitwarden
  [/(?:^|[^\w.-])(0)$/, /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\.\w{20,40}:[A-Za-z0-9+/]{20,60}={0,2}/],
  // refresh tokens of Microsoft
  [/(?:^|[^\w.-])([01])$/, /^A[\w.-]{100,}/],
  [/(?:^|[^\w.-])(M)$/, /^[CR]\d{1,4}_[A-Z0-9]{2,6}\.[\w.!*$-]{40,}/],
]

const SHORT = new Set('01M')

/** Triggered at the full stop. */
export const dottedKey: Shape = ({ text }, at) => {
  const isIn = (offset: number): boolean => (classOf(text.charCodeAt(at + offset)) & URL64) !== 0
  const isLong = isIn(-2) && isIn(-7) && isIn(-12) && isIn(-17) && isIn(-22)
  if (!(isLong || (!isIn(-2) && SHORT.has(text.charAt(at - 1)))) || !isIn(1)) return undefined
  const head = text.slice(Math.max(0, at - 34), at)
  for (const [before, after] of DOTTED) {
    const start = before.exec(head)?.[1]
    const end = start === undefined ? undefined : after.exec(text.slice(at + 1, at + 2_049))?.[0]
    if (start !== undefined && end !== undefined)
      return { start: at - start.length, end: at + 1 + end.length, kind: 'key' }
  }
  return undefined
}

/** A token of Asana, `1/<number>:<32 hex>` or `2/<number>/<number>:<32 hex>`; triggered at the colon. */
export const asanaToken: Shape = ({ text }, at) => {
  if (!isDigit(text.charCodeAt(at - 1)) || runEnd(text, at + 1, HEX, 33) !== at + 33) return undefined
  const start = /(?:^|[^\w/])([012]\/\d{10,20}(?:\/\d{10,20})?)$/.exec(text.slice(Math.max(0, at - 46), at))?.[1]
  return start === undefined ? undefined : { start: at - start.length, end: at + 33, kind: 'key' }
}

/** A deploy key of Convex, `prod:name|<key>`; triggered at the bar. */
export const convexKey: Shape = ({ text }, at) => {
  const end = runEnd(text, at + 1, OPAQUE, LONG)
  if (end - at < 21) return undefined
  const start = /(?:prod|dev|preview|project):[a-z0-9][\w:-]{2,80}$/.exec(text.slice(Math.max(0, at - 96), at))
  return start === null ? undefined : { start: at + 1, end, kind: 'key' }
}

/** The session of Copilot, `tid=…;exp=…;…`. */
export const copilotSession: Shape = ({ text }, at) => {
  const found = /^tid=[\w-]{8,64}(?:;[\w-]{1,32}=[^\s;"'`]{0,200}){2,40}(?::[0-9a-f]{32,})?/.exec(
    text.slice(at, at + 4_096),
  )
  return found === null ? undefined : { start: at, end: at + found[0].length, kind: 'token' }
}

/** A Telegram bot token, `<number>:A…`; triggered at the colon. */
export const telegramToken: Shape = ({ text }, at) => {
  if (text.charCodeAt(at + 1) !== 0x41) return undefined
  const start = runStart(text, at, ALNUM, 18)
  const end = runEnd(text, at + 1, URL64, 64)
  const isNumber = /^\d{8,16}$/.test(text.slice(start, at))
  return isNumber && end - at > 33 && end - at < 40 ? { start, end, kind: 'key' } : undefined
}

/** 32 hex digits and more behind a hyphen: Mailchimp's data centre, Mailgun's two groups; triggered at the hyphen. */
export const hexTail: Shape = ({ text }, at) => {
  const next = text.charCodeAt(at + 3)
  if (!isDigit(next) && (classOf(next) & HEX) === 0) return undefined
  if (runStart(text, at, HEX, 33) !== at - 32) return undefined
  const end = /^-(?:us\d{1,2}|[0-9a-f]{8}-[0-9a-f]{8})(?![\w-])/.exec(text.slice(at, at + 20))?.[0]
  return end === undefined ? undefined : { start: at - 32, end: at + end.length, kind: 'key' }
}

/** An Entra client secret, three characters, a digit, `Q~`; triggered at the tilde. */
export const entraSecret: Shape = ({ text }, at) => {
  if (text[at - 1] !== 'Q' || !isDigit(text.charCodeAt(at - 2))) return undefined
  const end = runEnd(text, at + 1, OPAQUE, 64)
  return end - at > 31 && end - at < 38 ? { start: Math.max(0, at - 5), end, kind: 'key' } : undefined
}

/** A Terraform Cloud token, `….atlasv1.…`; triggered at the full stop. */
export const terraformToken: Shape = ({ text }, at) => {
  if (text.charCodeAt(at + 1) !== 0x61 || !text.startsWith('.atlasv1.', at)) return undefined
  const start = runStart(text, at, ALNUM, 20)
  const end = runEnd(text, at + 9, URL64)
  return at - start >= 12 && end - at > 60 ? { start, end, kind: 'key' } : undefined
}

/** A Braintree or PayPal access token, parts between dollar signs. */
export const dollarToken: Shape = ({ text }, at) => {
  const found = /^access_token\$(?:production|sandbox)\$[0-9a-z]{10,20}\$[0-9a-f]{32}/.exec(text.slice(at, at + 100))
  return found === null ? undefined : { start: at, end: at + found[0].length, kind: 'key' }
}

/** A MaxMind licence key, `<six>_<29>_mmk`; triggered at the last divider. Source: gitleaks, maxmind-license-key. */
export const maxmindKey: Shape = ({ text }, at) => {
  if (text.charCodeAt(at + 1) !== 0x6d || !text.startsWith('_mmk', at)) return undefined
  const start = runStart(text, at, URL64, 40)
  return at - start === 36 && text[start + 6] === '_' ? { start, end: at + 4, kind: 'key' } : undefined
}

/** A Facebook app's token, `<app>|<secret>`; triggered at the bar. Source: gitleaks, facebook-access-token. */
export const facebookToken: Shape = ({ text }, at) => {
  if (!isDigit(text.charCodeAt(at - 1))) return undefined
  const start = runStart(text, at, ALNUM, 18)
  const end = runEnd(text, at + 1, URL64, 48)
  const size = end - at - 1
  return /^\d{15,16}$/.test(text.slice(start, at)) && size > 26 && size < 41 ? { start, end, kind: 'key' } : undefined
}

/** An Airtable token, `pat` and 14 characters, a full stop, 64 hex digits. Source: gitleaks, airtable-personnal-access-token. */
export const airtableToken: Shape = (scan, at) => {
  if (scan.text.charCodeAt(at + 17) !== 0x2e || !scan.text.startsWith('pat', at)) return undefined
  return runEnd(scan.text, at, ALNUM) === at + 17 && runEnd(scan.text, at + 18, HEX) === at + 82
    ? { start: at, end: at + 82, kind: 'key' }
    : undefined
}

/** An Authress access key: client, key, account behind `acc`, secret, parted by full stops. Source: gitleaks, authress-service-client-access-key. */
export const authressKey: Shape = (scan, at) => {
  const found =
    /^(?:scauth|sc|ext|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.(?=[\w+/=-]{30})/.exec(
      scan.text.slice(at, at + 140),
    )
  return found === null ? undefined : { start: at, end: scan.runEnd(at + found[0].length, OPAQUE), kind: 'key' }
}
