import {
  isScanFault,
  type JsonValue,
  memberIn,
  pointerPart,
  scanJson,
  sourceOf,
  stringIn,
} from 'guard-gateway/lib/json'
import type { Frame } from 'guard-gateway/lib/json-rpc'
import type { ToolResult } from 'guard-gateway/lib/mcp-check'
import { type PlacedPart, placedText } from './placed-part.ts'
import { structuredParts } from './structured-parts.ts'

/** A result as checks examine it, and why it cannot be examined as a whole. */
export interface ReadResult extends ToolResult {
  readonly parts: readonly PlacedPart[]
  readonly unexamined: readonly { readonly pointer: string; readonly reason: string }[]
}

/** Larger results are not examined: finding their parts would hold the event loop. */
const MAX_CHARS = 8_388_608
/** A structure can have as many values as characters. */
const MAX_STRUCTURE = 1_048_576
const MAX_PARTS = 10_000
/** The result, its members, content items, their members, and those of a resource. */
const KEEP = 4

/** Reads the result of a `tools/call`: the texts and data in its content, and the texts of `structuredContent`. */
export const readResult = ({ text, raw, result, duplicate }: Frame): ReadResult | undefined => {
  if (result === undefined) return undefined
  const source = sourceOf(text, result)
  const unread = { parts: [], structured_bytes: 0, bytes: raw.length }
  const why = (reason: string): ReadResult => ({ ...unread, unexamined: [{ pointer: '', reason }] })
  if (source.length > MAX_CHARS) return why(`is larger than the ${MAX_CHARS} characters that are examined`)
  if (duplicate !== undefined) return why('has a member twice, so that two readers could see different things')
  const scan = scanJson(source, { keep: KEEP })
  if (isScanFault(scan)) return why('cannot be read')
  const parts = [...contentParts(source, scan.root, result.start)]
  const structure = memberIn(scan.root, 'structuredContent')?.value
  const unexamined: ReadResult['unexamined'][number][] = []
  if (structure !== undefined && structure.end - structure.start > MAX_STRUCTURE)
    unexamined.push({
      pointer: '/structuredContent',
      reason: `is larger than the ${MAX_STRUCTURE} characters that are examined`,
    })
  else if (structure !== undefined)
    parts.push(...structuredParts(sourceOf(source, structure), result.start + structure.start))
  if (parts.length > MAX_PARTS) return why(`has more than the ${MAX_PARTS} parts that are examined`)
  const structured_bytes = structure === undefined ? 0 : Buffer.byteLength(sourceOf(source, structure))
  return { parts, structured_bytes, bytes: raw.length, unexamined }
}

/** What a content item says of itself in one word. */
const WORDS: ReadonlySet<string> = new Set(['type', 'mimeType'])

/** The parts of the content, and texts beside it. */
function* contentParts(source: string, root: JsonValue, offset: number): Generator<PlacedPart> {
  for (const { name, value } of root.members ?? []) {
    if (name === 'structuredContent') continue
    const at = `/${pointerPart(name)}`
    yield* textPart(source, value, at, offset)
    for (const [index, item] of (value.items ?? []).entries()) yield* itemParts(source, item, `${at}/${index}`, offset)
  }
}

function* itemParts(source: string, item: JsonValue, pointer: string, offset: number): Generator<PlacedPart> {
  const type = stringIn(source, memberIn(item, 'type')?.value)
  const hasData = type === 'image' || type === 'audio'
  yield* textPart(source, item, pointer, offset)
  for (const { name, value } of item.members ?? []) {
    const at = `${pointer}/${pointerPart(name)}`
    if (hasData && name === 'data') yield dataPart(source, value, item, at, offset)
    else if (!WORDS.has(name)) yield* textPart(source, value, at, offset)
    if (name === 'resource') yield* resourceParts(source, value, item, at, offset)
  }
}

function* resourceParts(
  source: string,
  resource: JsonValue,
  item: JsonValue,
  pointer: string,
  offset: number,
): Generator<PlacedPart> {
  for (const { name, value } of resource.members ?? []) {
    const at = `${pointer}/${pointerPart(name)}`
    if (name === 'blob') yield dataPart(source, value, item, at, offset)
    else if (!WORDS.has(name)) yield* textPart(source, value, at, offset)
  }
}

function* textPart(source: string, value: JsonValue, pointer: string, offset: number): Generator<PlacedPart> {
  const text = stringIn(source, value)
  if (text !== undefined && text !== '') yield placedText('text', text, value, pointer, offset)
}

/** Four characters of base64 are three bytes. */
const dataPart = (source: string, value: JsonValue, item: JsonValue, pointer: string, offset: number): PlacedPart => {
  const padding = source.slice(value.start, value.end - 1).endsWith('==') ? 2 : source[value.end - 2] === '=' ? 1 : 0
  const bytes = Math.max(0, Math.floor(((value.end - value.start - 2) * 3) / 4) - padding)
  return { ...placedText('data', '', item, pointer, offset), bytes }
}
