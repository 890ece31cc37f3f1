import { isAlnum, isDigit } from './alphabet.ts'
import type { Hit } from './hit.ts'
import type { Scan } from './scan.ts'

/** The check digit of payment cards (ISO/IEC 7812-1). */
const luhn = (digits: string): boolean => {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 0x30
    const doubled = digit * 2
    sum += at % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** First digits and lengths that card networks issue. */
const ISSUED =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17})$/
/** How cards print their digits: in one piece, or in these groups. */
const CARD = /(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ -])\d{6}\2\d{4,5}|\d{13,19})(?![ -]?\d)/y
/** Steps of reading them. */
const DIGITS = 80

/** The number ends here: what follows does not continue it. */
const endsAt = (text: string, end: number): boolean => {
  const unit = text.charCodeAt(end)
  if (isAlnum(unit) || unit === 0x5f) return false
  return !((unit === 0x2e || unit === 0x2d) && isAlnum(text.charCodeAt(end + 1)))
}

/** The number is the value of an identifier: `trace_id=…`, `"id": "…"`. */
const isNamedId = (text: string, at: number): boolean => {
  const last = text.charCodeAt(at - 1)
  if (last !== 0x3d && last !== 0x3a && last !== 0x22 && last !== 0x20) return false
  return /id\\?["']? ?[:=] ?\\?["']?$/i.test(text.slice(Math.max(0, at - 9), at))
}

/** A payment card number: a network's prefix and length, usual grouping, valid check digit. */
export const card = (scan: Scan, at: number): Hit | undefined => {
  const { text, rules } = scan
  scan.spend(DIGITS)
  if (!rules.accounts || isNamedId(text, at)) return undefined
  if (text.charCodeAt(at - 1) === 0x2e && isDigit(text.charCodeAt(at - 2))) return undefined
  CARD.lastIndex = at
  const written = CARD.exec(text)?.[0]
  if (written === undefined) return undefined
  const digits = written.replace(/[ -]/g, '')
  const end = at + written.length
  return ISSUED.test(digits) && luhn(digits) && endsAt(text, end) ? { start: at, end, kind: 'card' } : undefined
}

/** Lengths of account numbers by country (SWIFT IBAN registry). */
const IBAN_LENGTHS =
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
const lengths = new Map(IBAN_LENGTHS.split(' ').map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]))

/** Countries that have account numbers of this form, two letters each. */
export const ibanCountries: readonly string[] = [...lengths.keys()]

/** The remainder by 97 that ISO 13616 wants to be 1. */
const remainder = (account: string): number => {
  let rest = 0
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest
}

/** An international bank account number, in one piece or in groups of four, with valid check digits. */
export const iban = ({ text, rules }: Scan, at: number): Hit | undefined => {
  if (!rules.accounts) return undefined
  const length = lengths.get(text.slice(at, at + 2))
  if (length === undefined || !isDigit(text.charCodeAt(at + 2)) || !isDigit(text.charCodeAt(at + 3))) return undefined
  const inGroups = text.charAt(at + 4) === ' '
  const size = inGroups ? length + Math.ceil(length / 4) - 1 : length
  const written = text.slice(at, at + size)
  const account = inGroups ? written.replaceAll(' ', '') : written
  if (account.length !== length || !/^[A-Z0-9]+$/.test(account) || isAlnum(text.charCodeAt(at + size))) return undefined
  return remainder(account) === 1 ? { start: at, end: at + size, kind: 'iban' } : undefined
}
