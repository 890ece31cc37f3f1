import { isBlank, OPAQUE, PARTS, runEnd, skipBlanks, URL64 } from './alphabet.ts'
import { decodeBase64 } from './base64.ts'
import { isPlaceholder } from './placeholders.ts'
import type { Shape } from './scan.ts'
import { lineEnd } from './values.ts'

/** A JWS or JWE in compact form: parts of base64url, the first an object. Also without its signature. */
export const jwt: Shape = (scan, at) => {
  if (!scan.text.startsWith('eyJ', at)) return undefined
  const end = scan.runEnd(at, PARTS)
  const dot = scan.text.indexOf('.', at)
  if (dot === -1 || dot >= end - 1 || dot - at < 12) return undefined
  return { start: at, end, kind: 'token' }
}

/** Steps of telling a scheme from a word. */
const WORD = 60
/** How much of a value is judged. */
const MAX_JUDGED = 200

/** The credential could be a word of a sentence: `bearer tokens`. */
const isCredential = (value: string, min: number): boolean =>
  value.length >= min &&
  (/\d/.test(value) || /[a-z][A-Z]/.test(value) || /^[A-Za-z]{25,}$/.test(value)) &&
  !/^\d+$/.test(value)

/** Whether the word behind a scheme is its credential. */
const afterScheme: ReadonlyMap<string, (value: string) => boolean> = new Map(
  Object.entries({
    bearer: (value: string) => isCredential(value, 8),
    basic: (value: string) => /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decodeBase64(value) ?? ''),
    token: (value: string) => isCredential(value, 16) && !value.includes(':'),
    apikey: (value: string) => isCredential(value, 12),
    negotiate: (value: string) => isCredential(value, 24),
    ntlm: (value: string) => isCredential(value, 24),
    ssws: (value: string) => isCredential(value, 16),
    dpop: (value: string) => isCredential(value, 24),
    oauth: (value: string) => isCredential(value, 16),
  }),
)

/** Schemes whose credential is a list of parameters. */
const PARAMETERS =
  /^(?:Digest +(?:username|realm|nonce)|Hawk +(?:id|mac)|OAuth +oauth_|AWS4-HMAC-SHA256 +Credential|Signature +keyId|GoogleLogin +auth|SharedAccessSignature +s[rig]|Snowflake +Token)=/i

/** `Bearer …`, `Basic …` and other authorization schemes with their credential, which alone is hidden. */
export const scheme: Shape = (scan, at) => {
  const { text } = scan
  scan.spend(WORD)
  const listed = PARAMETERS.exec(text.slice(at, at + 64))
  if (listed !== null)
    return { start: at + listed[0].search(/ /) + 1, end: lineEnd(text, at, undefined), kind: 'token' }
  const end = runEnd(text, at, URL64, 24)
  const judge = afterScheme.get(text.slice(at, end).toLowerCase())
  if (judge === undefined || !isBlank(text.charCodeAt(end))) return undefined
  const from = skipBlanks(text, end)
  const value = text.slice(from, runEnd(text, from, OPAQUE, MAX_JUDGED))
  if (!judge(value) || isPlaceholder(value) || /^your[-_]/i.test(value)) return undefined
  return { start: from, end: runEnd(text, from, OPAQUE), kind: 'token' }
}

/** The scheme words by which `scheme` is entered. */
export const schemes: readonly string[] = [
  ...afterScheme.keys(),
  'digest',
  'hawk',
  'aws4',
  'signature',
  'googlelogin',
  'sharedaccess',
  'snowflake',
]
