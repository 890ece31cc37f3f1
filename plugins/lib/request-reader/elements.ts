import type { ApiStyle, Part, ProviderObject } from 'guard-gateway/core'
import { objectsIn } from '#lib/api-style'
import { hasRoundedInteger, readJson } from '#lib/json'
import { type HashedPart, hashPart } from './conversation/hashed-parts.ts'
import type { Span } from './member.ts'
import { parseSlice } from './scanner.ts'

/** What is kept of a list element. */
export interface HashedElement {
  readonly parts: readonly HashedPart[]
  readonly objects: readonly ProviderObject[]
}

/** The list element at this span: its parts as hashes, and the objects that it names. */
export const hashedElementAt = (style: ApiStyle, body: Buffer, span: Span): HashedElement => {
  const element = parseSlice(body, span.start, span.end)
  const parts = exactParts(style, element, () => readJson(body.toString('utf8', span.start, span.end)))
  return { parts: parts.map(hashPart), objects: objectsIn(element) }
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
