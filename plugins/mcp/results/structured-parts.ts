import { isScanFault, type JsonValue, pointerPart, scanJson, stringIn } from '#lib/json'
import type { ResultPart } from '#lib/mcp-check'

/** Shorter names of members have no room to say anything. */
export const NAME_CHARS = 24

/** The texts in `structuredContent` or the like, and long names in it. `offset`: where its source begins in the message. */
export function* structuredParts(source: string, pointer: string, offset: number): Generator<EditablePart> {
  const scan = scanJson(source)
  if (!isScanFault(scan)) yield* partsIn(source, scan.root, pointer, offset)
}

function* partsIn(source: string, value: JsonValue, pointer: string, offset: number): Generator<EditablePart> {
  const text = stringIn(source, value)
  if (text !== undefined && text !== '') yield editableText('structured', text, value, pointer, offset)
  for (const { name, value: inner } of value.members ?? []) {
    const at = `${pointer}/${pointerPart(name)}`
    if (name.length > NAME_CHARS) yield editableText('name', name, inner, at, offset)
    if (mayHold(source, inner)) yield* partsIn(source, inner, at, offset)
  }
  for (const [index, inner] of (value.items ?? []).entries())
    if (mayHold(source, inner)) yield* partsIn(source, inner, `${pointer}/${index}`, offset)
}

/** Numbers and words of JSON hold no text. */
const mayHold = (source: string, { start }: JsonValue): boolean => {
  const unit = source.charCodeAt(start)
  return unit === QUOTE || unit === BRACE || unit === BRACKET
}

const QUOTE = 0x22
const BRACE = 0x7b
const BRACKET = 0x5b

/** A part with its place in the message; what checks mend of it is noted here. */
export interface EditablePart extends ResultPart {
  text: string
  bytes: number
  /** Characters of the message; of data those of the content item around it. */
  readonly start: number
  readonly end: number
  changed: boolean
}

export const editableText = (
  kind: ResultPart['kind'],
  text: string,
  { start, end }: Pick<JsonValue, 'start' | 'end'>,
  pointer: string,
  offset: number,
): EditablePart => ({
  ...{ pointer, kind, text, bytes: Buffer.byteLength(text) },
  ...{ start: start + offset, end: end + offset, changed: false },
})
