import { byHeaderName } from 'guard-gateway/lib/http'

/** Kinds of headers for the framing of a message; INVALID is no header name. */
export const INVALID = -1
export const PLAIN = 0
export const CONTENT_LENGTH = 1
export const TRANSFER_ENCODING = 2
export const CONNECTION = 3
export const KEEP_ALIVE = 4

const kinds: ReadonlyMap<string, number> = new Map([
  ['content-length', CONTENT_LENGTH],
  ['transfer-encoding', TRANSFER_ENCODING],
  ['connection', CONNECTION],
  ['keep-alive', KEEP_ALIVE],
])

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** The kind of a header, by its name in any case. */
export const headerKind = byHeaderName((lower) => kinds.get(lower) ?? (TOKEN.test(lower) ? PLAIN : INVALID))

/** True for a method's name. */
export const isToken = (text: string): boolean => TOKEN.test(text)

/** Matches a character that no header value may have. */
export const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/

/** The value's tokens, in lower case. */
export const tokensOf = (value: string): readonly string[] =>
  value.split(',').map((token) => token.trim().toLowerCase())
