import { ALNUM, HEX, isDigit, OPAQUE, PARTS, runEnd, runStart, URL64 } from './alphabet.ts'
import { decodeBase64 } from './base64.ts'
import type { Shape } from './scan.ts'

/** A Discord bot token: the bot's number in base64url, a time, a signature. */
export const discordToken: Shape = (scan, at) => {
  const end = scan.runEnd(at, PARTS)
  if (end - at < 50 || end - at > 90) return undefined
  const [id, time, signature] = scan.text.slice(at, end).split('.')
  if (id === undefined || time?.length !== 6 || signature === undefined || signature.length < 27) return undefined
  return /^\d{16,20}$/.test(decodeBase64(id) ?? '') ? { start: at, end, kind: 'key' } : undefined
}

/** A Telegram bot token, `<number>:A…`; triggered at the colon. */
export const telegramToken: Shape = ({ text }, at) => {
  if (text.charCodeAt(at + 1) !== 0x41) return undefined
  const start = runStart(text, at, ALNUM, 18)
  const end = runEnd(text, at + 1, URL64, 64)
  const isNumber = /^\d{8,16}$/.test(text.slice(start, at))
  return isNumber && end - at > 33 && end - at < 40 ? { start, end, kind: 'key' } : undefined
}

/** A Mailchimp key, 32 hex digits and its data centre; triggered at the hyphen. */
export const mailchimpKey: Shape = ({ text }, at) => {
  if (text.charCodeAt(at + 1) !== 0x75 || text.charCodeAt(at + 2) !== 0x73 || !isDigit(text.charCodeAt(at + 3)))
    return undefined
  const start = runStart(text, at, HEX, 33)
  const end = runEnd(text, at + 1, ALNUM, 6)
  return at - start === 32 && /^us\d{1,2}$/.test(text.slice(at + 1, end)) ? { start, end, kind: 'key' } : undefined
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
