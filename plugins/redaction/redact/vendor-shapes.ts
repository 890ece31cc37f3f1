import { classOf, URL64 } from './alphabet.ts'
import type { Kind } from './hit.ts'
import type { Shape } from './scan.ts'

/** What stands before a sign, the key's part of it in brackets, and what stands behind it. */
type Parts = readonly (readonly [before: RegExp, after: RegExp])[]

/** A key in two parts; triggered at the sign between them. */
const parted =
  (parts: Parts): Shape =>
  ({ text }, at) => {
    for (const [before, after] of parts) {
      after.lastIndex = at + 1
      if (!after.test(text)) continue
      const end = after.lastIndex
      const start = before.exec(text.slice(Math.max(0, at - 96), at))?.[1]
      if (start !== undefined) return { start: at - start.length, end, kind: 'key' }
    }
    return undefined
  }

const dotted = parted([
  // a Discord bot: its number in base64url, a time, a signature
  [/(?:^|[^\w-])([MNO][\w-]{22,27})$/, /[\w-]{6}\.[\w-]{27,40}(?![\w-])/y],
  // Zhipu
  [/(?:^|[^\w-])([0-9a-f]{32})$/, /[A-Za-z0-9]{16}(?![\w-])/y],
  // a machine account of Bitwarden
  [/(?:^|[^\w.-])(0)$/, /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\.\w{20,40}:[A-Za-z0-9+/]{20,60}={0,2}/y],
  // refresh tokens of Microsoft
  [/(?:^|[^\w.-])([01])$/, /A[\w.-]{100,2000}/y],
  [/(?:^|[^\w.-])(M)$/, /[CR]\d{1,4}_[A-Z0-9]{2,6}\.[\w.!*$-]{40,2000}/y],
  // Terraform Cloud
  [/([A-Za-z0-9]{12,20})$/, /atlasv1\.[\w-]{51,2000}/y],
])
const SHORT = new Set('01M')

/** A key of parts with full stops between them. */
export const dottedKey: Shape = (scan, at) => {
  const isIn = (offset: number): boolean => (classOf(scan.text.charCodeAt(at + offset)) & URL64) !== 0
  const isLong = isIn(-2) && isIn(-7) && isIn(-12)
  return (isLong || (!isIn(-2) && SHORT.has(scan.text.charAt(at - 1)))) && isIn(1) ? dotted(scan, at) : undefined
}

/** Further keys by the sign between their parts. */
export const partedKeys: Readonly<Record<string, Shape>> = {
  ':': parted([
    // Asana; a bot of Telegram
    [/(?:^|[^\w/])([012]\/\d{10,20}(?:\/\d{10,20})?)$/, /[0-9a-f]{32}(?![0-9a-f])/y],
    [/(?:^|[^A-Za-z0-9])(\d{8,16})$/, /A[\w-]{32,37}(?![\w-])/y],
  ]),
  '|': parted([
    // a deploy key of Convex; an app of Facebook (gitleaks: facebook-access-token)
    [/(?:prod|dev|preview|project):[a-z0-9][\w:-]{2,80}()$/, /[\w.+/=~:-]{20,1024}/y],
    [/(?:^|[^A-Za-z0-9])(\d{15,16})$/, /[\w-]{27,40}(?![\w-])/y],
  ]),
  // Mailchimp's data centre, Mailgun's two groups
  '-': parted([[/(?:^|[^0-9A-Fa-f])([0-9a-fA-F]{32})$/, /(?:us\d{1,2}|[0-9a-f]{8}-[0-9a-f]{8})(?![\w-])/y]]),
  // a client secret of Entra
  '~': parted([[/([\w.~-]{3}\dQ)$/, /[\w.+/=~:-]{31,36}(?![\w.+/=~:-])/y]]),
  // MaxMind (gitleaks: maxmind-license-key)
  _: parted([[/(?:^|[^\w-])([\w-]{6}_[\w-]{29})$/, /mmk/y]]),
}

/** Keys of several parts by how they begin: the session of Copilot, Braintree, Airtable, Authress (gitleaks). */
const WHOLE: readonly (readonly [starts: string, pattern: RegExp, kind: Kind])[] = [
  ['tid=', /tid=[\w-]{8,64}(?:;[\w-]{1,32}=[^\s;"'`]{0,200}){2,40}(?::[0-9a-f]{32,})?/y, 'token'],
  ['access_token', /access_token\$(?:production|sandbox)\$[0-9a-z]{10,20}\$[0-9a-f]{32}/y, 'key'],
  ['pat', /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![0-9a-f])/y, 'key'],
  [
    'sc_ ext_ authress_ scauth_',
    /(?:scauth|sc|ext|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[\w.+/=~:-]{30,2000}/y,
    'key',
  ],
]

/** Shapes of whole keys, each with the beginning of the word at which it is tried. */
export const wholeKeys: readonly (readonly [start: string, shape: Shape])[] = WHOLE.flatMap(
  ([starts, pattern, kind]) => {
    const shape: Shape = ({ text }, at) => {
      pattern.lastIndex = at
      return pattern.test(text) ? { start: at, end: pattern.lastIndex, kind } : undefined
    }
    return starts.split(' ').map((start) => [start, shape] as const)
  },
)
