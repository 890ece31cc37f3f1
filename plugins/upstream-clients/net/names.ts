import { byHeaderName } from 'guard-gateway/lib/http'

/** What a header means for the framing of a message, or that it is no header. */
export const INVALID = -1
export const PLAIN = 0
export const CONTENT_LENGTH = 1
export const TRANSFER_ENCODING = 2
export const CONNECTION = 3
export const KEEP_ALIVE = 4

const meanings: ReadonlyMap<string, number> = new Map([
  ['content-length', CONTENT_LENGTH],
  ['transfer-encoding', TRANSFER_ENCODING],
  ['connection', CONNECTION],
  ['keep-alive', KEEP_ALIVE],
])

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Tells it of a name in any spelling. */
export const meaningOf = byHeaderName((lower) => meanings.get(lower) ?? (TOKEN.test(lower) ? PLAIN : INVALID))

/** True for a method's name. */
export const isToken = (text: string): boolean => TOKEN.test(text)

/** Holds a character that no header value may have. */
export const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/

/** The value's tokens, in lower case. */
export const tokensOf = (value: string): readonly string[] =>
  value.split(',').map((token) => token.trim().toLowerCase())
