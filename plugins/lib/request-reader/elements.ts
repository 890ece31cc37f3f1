import { isAscii } from 'node:buffer'
import type { ApiStyle, Part } from 'guard-gateway/core'
import { holdsRounded, readJson } from 'guard-gateway/lib/json'
import type { Encoding } from './conversation/byte-strings.ts'
import { type Piece, pieceOf } from './conversation/hashed-parts.ts'
import { literal, type Wording } from './conversation/string-encoding.ts'
import type { Span } from './member.ts'
import { parseSlice } from './scanner.ts'

/** How the strings of JSON are best read for a style. */
export const encodingFor = (style: ApiStyle, json: Buffer): Encoding =>
  style.bytewise !== true || isAscii(json) || escapesMore(json) ? 'utf8' : 'latin1'

/** Whether an escape may stand for a character beyond ASCII: those could not be told from bytes. */
const escapesMore = (json: Buffer): boolean => {
  for (let at = json.indexOf('\\u'); at !== -1; at = json.indexOf('\\u', at + 2))
    if (json[at + 2] !== ZERO || json[at + 3] !== ZERO || (json[at + 4] ?? 0) >= EIGHT) return true
  return false
}

const ZERO = 0x30
const EIGHT = 0x38

/** What an element of the list says, as text. */
export const partsOf = (style: ApiStyle, element: unknown, wording: Wording): readonly Part[] =>
  wording.told(style.parts(element))

/** What the element that stands there says, as hashes. */
export const piecesAt = (style: ApiStyle, body: Buffer, place: Span): readonly Piece[] => {
  const encoding = encodingFor(style, body.subarray(place.start, place.end))
  const element = parseSlice(body, place.start, place.end, encoding)
  const parts = exactParts(style, element, 0, () => exactValue(body, place, encoding))
  return parts.map((part) => pieceOf(part, literal[encoding]))
}

/** The parts of an element; of what `exactly` gives for its index, if an integer in the arguments of a call may have lost digits. */
export const exactParts = (
  style: ApiStyle,
  element: unknown,
  index: number,
  exactly: (index: number) => unknown,
): readonly Part[] => {
  const parts = style.parts(element)
  // arguments that are text hold every digit
  for (const part of parts)
    if (part.kind === 'call' && typeof part.args === 'object' && holdsRounded(part.args))
      return style.parts(exactly(index))
  return parts
}

/** The value that stands there, its integers with every digit. */
export const exactValue = (body: Buffer, { start, end }: Span, encoding: Encoding): unknown =>
  readJson(body.toString(encoding, start, end))
