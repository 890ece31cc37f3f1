import type { JsonValue } from '#lib/json'
import type { ResultPart } from '#lib/mcp-check'

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
