import { isAscii } from 'node:buffer'
import type { ApiStyle, Part } from 'guard-gateway/core'
import { hasRoundedInteger, readJson } from 'guard-gateway/lib/json'
import type { Encoding } from './conversation/byte-strings.ts'
import { type HashedPart, hashPart } from './conversation/hashed-parts.ts'
import { literal, type StringEncoding } from './conversation/string-encoding.ts'
import type { Span } from './member.ts'
import { parseSlice } from './scanner.ts'

/** The fastest encoding to parse this JSON with, for an API style. */
export const encodingFor = (style: ApiStyle, json: Buffer): Encoding =>
  style.bytewise !== true || isAscii(json) || hasEscapesBeyondAscii(json) ? 'utf8' : 'latin1'

/** Whether an escape may stand for a character beyond ASCII: in a byte string it would look like bytes. */
const hasEscapesBeyondAscii = (json: Buffer): boolean => {
  for (let at = json.indexOf('\\u'); at !== -1; at = json.indexOf('\\u', at + 2))
    if (json[at + 2] !== ZERO || json[at + 3] !== ZERO || (json[at + 4] ?? 0) >= EIGHT) return true
  return false
}

const ZERO = 0x30
const EIGHT = 0x38

/** The parts of a list element, as text. */
export const partsOf = (style: ApiStyle, element: unknown, strings: StringEncoding): readonly Part[] =>
  strings.decode(style.parts(element))

/** The parts of the list element at this span, as hashes. */
export const hashedPartsAt = (style: ApiStyle, body: Buffer, span: Span): readonly HashedPart[] => {
  const encoding = encodingFor(style, body.subarray(span.start, span.end))
  const element = parseSlice(body, span.start, span.end, encoding)
  const parts = exactParts(style, element, 0, () => exactValue(body, span, encoding))
  return parts.map((part) => hashPart(part, literal[encoding]))
}

/** The parts of an element. If an integer in the arguments of a call may have lost digits, they are taken from `exactly(index)` instead. */
export const exactParts = (
  style: ApiStyle,
  element: unknown,
  index: number,
  exactly: (index: number) => unknown,
): readonly Part[] => {
  const parts = style.parts(element)
  // arguments that are text have every digit
  for (const part of parts)
    if (part.kind === 'call' && typeof part.args === 'object' && hasRoundedInteger(part.args))
      return style.parts(exactly(index))
  return parts
}

/** The value at this span, its integers with every digit. */
export const exactValue = (body: Buffer, { start, end }: Span, encoding: Encoding): unknown =>
  readJson(body.toString(encoding, start, end))
