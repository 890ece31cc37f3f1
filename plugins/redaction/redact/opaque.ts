import { decodeBase64 } from './base64.ts'
import { looksIssued } from './issued.ts'
import { type Level, Levels } from './names.ts'
import { isExpression, isNone, isNoValue, isPlaceholder } from './placeholders.ts'

/** What identifies something and opens nothing: UUIDs, ULIDs, ids with a prefix, numbers, times. */
const IDENTIFIER =
  /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26}|[a-z][a-z0-9]{1,15}[_-][0-9a-z]{6,26}|[\d.:/+-]+|\d{4}-\d\d-\d\d.{0,24})$/
/** Names of methods and schemes. */
const METHOD = /(?:sha-?\d|hmac|rsa|ecdsa|ed25519|oauth|basic|bearer|digest|jwt|saml|ldap|base64|argon2|pbkdf2|x509)/i
const PATH_OR_ADDRESS = /^(?:[\w.-]+@[\w-]+(?:\.[\w-]+)+$|[a-z][a-z0-9+.-]{1,16}:\/\/|[~.]{0,2}\/|[A-Za-z]:[\\/])/
/** A phrase from which a wallet is recovered: twelve to 24 short words. */
const PHRASE = /^(?:[a-z]{3,8} ){11,23}[a-z]{3,8}$/
const PHRASE_BEFORE = /^(?:[a-z]{3,8} ){11,23}[a-z]{3,8}(?![\w.])/

/** The length of a recovery phrase that begins at `from`; undefined if none does. */
export const phraseAt = (text: string, from: number): number | undefined =>
  PHRASE_BEFORE.exec(text.slice(from, from + 240))?.[0].length
const CREDENTIAL = /^[\w+/=.~:%|-]{8,}$/
const HEX = /^(?:sha\d{1,3}=|v\d=)?[0-9a-f]{32,}$/i

/** A value is judged by so many characters. */
const MAX_JUDGED = 160

const isUserAndPassword = (value: string): boolean =>
  /^[A-Za-z0-9+/_-]{8,}={0,2}$/.test(value) && /^[^:\s]{1,64}:[\x21-\x7e]+$/.test(decodeBase64(value) ?? '')

/** Under a name that stands for secrets and for other things alike, the value is a secret: random, a digest, or a user with a password in base64. */
export const looksOpaque = (value: string): boolean => {
  if (isPlaceholder(value) || isNoValue(value)) return false
  if (PHRASE.test(value)) return true
  const judged = value.slice(0, MAX_JUDGED)
  if (!CREDENTIAL.test(judged) || IDENTIFIER.test(judged) || PATH_OR_ADDRESS.test(judged)) return false
  if (HEX.test(judged) || isUserAndPassword(judged)) return true
  if (isExpression(judged) || (judged.length <= 24 && METHOD.test(judged))) return false
  if (judged.length >= 16) return looksIssued(judged, 0, judged.length)
  return /[a-z]/.test(judged) && /[A-Z]/.test(judged) && looksIssued(judged, 0, judged.length, 2.4)
}

/** Words joined by signs or by their capitals, perhaps with a short number at the end: names of things. */
const NAMED = /^[A-Za-z]+(?:[-_./:@ ][A-Za-z]+)*[-_.]?\d{0,2}$/
/** Sizes, times, versions, dates, numbers. */
const MEASURE = /^v?\d[\d.,:/+-]*(?:[a-zA-Z%]{0,3}|[TZ][\d:.+-]*Z?)$/
const CODE_SIGNS = /["'`]|[(){}<>[\]|\\]|=>|::|&&|^[.$@#]|[.,;:]$/

/** A value as people and generators make secrets: letters with digits or signs among them, no name, measure, path or piece of code. */
export const isChosen = (value: string): boolean => {
  if (value.length < 8 || value.length > 512 || /\s/.test(value)) return false
  if (isPlaceholder(value) || isNoValue(value) || isExpression(value)) return false
  if (NAMED.test(value) || MEASURE.test(value) || PATH_OR_ADDRESS.test(value) || CODE_SIGNS.test(value)) return false
  if (value.length <= 24 && METHOD.test(value)) return false
  return /[A-Za-z]/.test(value) && (/\d/.test(value) || /[!#%^*+=~&$@]/.test(value)) && !FILE.test(value)
}
const FILE = /\.[a-z]{1,5}[0-9]?(?::\d+)?$/

/** As `isChosen`, or as people make passwords, where what stands before it says so: words with capitals and digits. */
export const isHuman = (value: string): boolean => isChosen(value) || (HUMAN.test(value) && isPlain(value))
const HUMAN =
  /^(?:(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\x21-\x7e]{6,64}|(?=.*[A-Za-z])(?=.*[!#%^*+=~&$@])[\x21-\x7e]{6,64}|[a-z]{6,24}\d{1,6}|[a-z]{4,6}\d{3,6})$/
const isPlain = (value: string): boolean =>
  !isPlaceholder(value) &&
  !isNoValue(value) &&
  !isExpression(value) &&
  !MEASURE.test(value) &&
  !PATH_OR_ADDRESS.test(value) &&
  !CODE_SIGNS.test(value) &&
  !/^(?:sha-?\d|[hr]s\d|hmac|rsa|ecdsa|ed25519|oauth|basic|bearer|digest|jwt|saml|ldap|base64|argon2|pbkdf2|x509)[\w-]{0,10}$/i.test(
    value,
  )

/** Ids and names of things, of which sentences speak as well. */
export const namesOne = (value: string): boolean =>
  /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-|[a-z]+\d{0,3}(?:-[a-z0-9]+)+$|[a-z]{2,12}_\w+$)/.test(value)

/** As `isChosen`, and its pieces are those of a generator: it needs no sign before it. */
export const isMade = (value: string): boolean =>
  isChosen(value) && !/[/.]/.test(value) && !/^[a-z]{2,8}_\d+$/.test(value) && looksIssued(value, 0, value.length, 4)

/** A literal that is assigned to a name for secrets alone: no label, no reference. */
export const isSureValue = (value: string): boolean =>
  isChosen(value) || (value.length >= 4 && !isNone(value) && !isExpression(value) && !/\s/.test(value))

/** A number one types in: a PIN, a check value of a card. */
const CODE = /^\d{3,12}$/
/** What a test, a run or a pass over something came to. */
const OUTCOME =
  /^(?:pass(?:ed)?|fail(?:ed|ure|s)?|ok|skip(?:ped)?|error|warn(?:ing)?|success|n\/a|first|second|last|-?\d[\d.,/%]*[a-z]{0,2})$/i

/** A text under a name such as `pin`. */
const isCode = (value: string): boolean => CODE.test(value) || looksOpaque(value)

/** A text under a name such as `pass`, which counts and judges as well: a word of its own that is no outcome. */
const isPassword = (value: string): boolean =>
  /^\S{4,128}$/.test(value) && !OUTCOME.test(value) && !isPlaceholder(value) && !isNoValue(value)

/** An absolute path or one from the home folder, as `pwd` prints it. */
export const isFolder = (value: string): boolean =>
  /^(?:\/(?:[\w.@+ -]{1,255}\/)+[\w.@+ -]{0,255}|\/(?:[a-z][a-z_.-]{1,30})?|~(?:\/.{0,1000})?|[A-Za-z]:[\\/][^\n]{0,1000}|\\\\[\w.-]+\\[^\n]{0,1000})$/.test(
    value.slice(0, 4_096),
  )

/** Whether a text under a name of this level is a secret. */
export const isSecretUnder = (level: Level, value: string): boolean => {
  if (level >= Levels.likely) return !isNone(value)
  if (level === Levels.word) return isPassword(value)
  return level === Levels.code ? isCode(value) : level === Levels.opaque && looksOpaque(value)
}

/** Whether a number under a name of this level is a secret: a password of digits, or a PIN of four and more. */
export const isSecretNumber = (level: Level, value: number | bigint): boolean =>
  level === Levels.password || (level === Levels.code && value >= 1000)
