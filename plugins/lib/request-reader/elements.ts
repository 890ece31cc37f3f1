import type { ApiStyle, Part } from 'guard-gateway/core'
import { hasRoundedInteger, readJson } from 'guard-gateway/lib/json'
import { type HashedPart, hashPart } from './conversation/hashed-parts.ts'
import type { Span } from './member.ts'
import { parseSlice } from './scanner.ts'

/** The parts of the list element at this span, as hashes. */
export const hashedPartsAt = (style: ApiStyle, body: Buffer, span: Span): readonly HashedPart[] => {
  const element = parseSlice(body, span.start, span.end)
  return exactParts(style, element, () => readJson(body.toString('utf8', span.start, span.end))).map(hashPart)
}

/** The parts of an element. If an integer in the arguments of a call may have lost digits, they are taken from `exactly()` instead. */
const exactParts = (style: ApiStyle, element: unknown, exactly: () => unknown): readonly Part[] => {
  const parts = style.parts(element)
  // arguments that are text have every digit
  for (const part of parts)
    if (part.kind === 'call' && typeof part.args === 'object' && hasRoundedInteger(part.args))
      return style.parts(exactly())
  return parts
}
