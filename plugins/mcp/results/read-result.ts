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
import { type EditablePart, editableText } from './editable-part.ts'
import { NAME_CHARS, structuredParts } from './structured-parts.ts'

/** A result as checks examine it, and why it cannot be examined as a whole. */
export interface ReadResult extends ToolResult {
  readonly parts: readonly EditablePart[]
  readonly unexamined: readonly { readonly pointer: string; readonly reason: string }[]
}

/** Larger results are not examined: finding their parts would hold the event loop. */
const MAX_CHARS = 4_194_304
/** A structure can have as many values as characters. */
const MAX_STRUCTURE = 1_048_576
const MAX_PARTS = 10_000

const STRUCTURE = 'structuredContent'

/** A content item has a dozen members at most. */
const MAX_MEMBERS = 1_000

/** Its message says why. */
class Unexamined extends Error {}

const tooMany = () => new Unexamined(`has more than the ${MAX_PARTS} parts that are examined`)

/** Throws Unexamined. */
const upTo = (most: number, parts: Iterable<EditablePart>): EditablePart[] => {
  const taken: EditablePart[] = []
  for (const part of parts) if (taken.push(part) > most) throw tooMany()
  return taken
}

/** Reads the result of a `tools/call`: the texts and data in its content, and the texts of `structuredContent`; of an error its message and data. */
export const readResult = ({ text, raw, result: given, error, duplicate }: Frame): ReadResult | undefined => {
  const result = given ?? error
  if (result === undefined) return undefined
  const above = given === undefined ? '/error' : ''
  const structure = memberIn(result, STRUCTURE)?.value
  const structured_bytes = structure === undefined ? 0 : Buffer.byteLength(sourceOf(text, structure))
  const sizes = { structured_bytes, bytes: raw.length }
  const because = (pointer: string, reason: string) => ({ pointer, reason })
  const unread = (reason: string): ReadResult => ({ ...sizes, parts: [], unexamined: [because('', reason)] })
  if (result.end - result.start > MAX_CHARS)
    return unread(`is larger than the ${MAX_CHARS} characters that are examined`)
  if (duplicate !== undefined) return unread('has a member twice, so that two readers could see different things')
  const structures = structuresIn(text, result)
  const left = structures
    .filter(isLong)
    .map(({ name }) =>
      because(`${above}/${pointerPart(name)}`, `is larger than the ${MAX_STRUCTURE} characters that are examined`),
    )
  try {
    return { ...sizes, parts: upTo(MAX_PARTS, partsOf(text, result, structures, above)), unexamined: left }
  } catch (error) {
    if (error instanceof Unexamined) return unread(error.message)
    throw error
  }
}

/** Objects beside the content, as `structuredContent` and what earlier revisions had in its place; `_meta` is not for models. */
const structuresIn = (text: string, { members = [] }: JsonValue): readonly Member[] =>
  members.filter(
    ({ name, value }) => name === STRUCTURE || (name !== '_meta' && text.charCodeAt(value.start) === BRACE),
  )

const BRACE = 0x7b
const BRACKET = 0x5b
const QUOTE = 0x22

const isLong = ({ value: { start, end } }: Member): boolean => end - start > MAX_STRUCTURE

/** `above`: the pointer to where they are. */
function* partsOf(
  text: string,
  result: JsonValue,
  structures: readonly Member[],
  above: string,
): Generator<EditablePart> {
  // no server may answer so, and not all clients mind
  if (result.members === undefined) yield* nestedParts(text, result, above)
  for (const member of result.members ?? [])
    if (!structures.includes(member)) yield* contentParts(text, member, `${above}/${pointerPart(member.name)}`)
  for (const { name, value } of structures.filter((one) => !isLong(one)))
    yield* structuredParts(sourceOf(text, value), `${above}/${pointerPart(name)}`, value.start)
}

/** What a content item says of itself in one word, unless it is longer. */
const WORD_CHARS = 24
const WORDS: ReadonlySet<string> = new Set(['type', 'mimeType'])

/** The parts of the content, or a text beside it. */
function* contentParts(text: string, { value }: Member, at: string): Generator<EditablePart> {
  if ((value.items?.length ?? 0) > MAX_PARTS) throw tooMany()
  yield* textPart(text, value, at)
  for (const [index, item] of (value.items ?? []).entries()) yield* itemParts(text, item, `${at}/${index}`)
}

function* itemParts(text: string, item: JsonValue, pointer: string): Generator<EditablePart> {
  const members = membersOf(text, item)
  const type = stringIn(text, members.find(({ name }) => name === 'type')?.value)
  const data = type === 'image' || type === 'audio' ? 'data' : undefined
  if (members.length === 0) yield* otherPart(text, item, pointer)
  for (const { name, value } of members) {
    const at = `${pointer}/${pointerPart(name)}`
    const inner = name === 'resource' ? membersOf(text, value) : []
    if (inner.length === 0) yield* memberPart(text, { name, value, data }, item, at)
    for (const one of inner) yield* memberPart(text, { ...one, data: 'blob' }, item, `${at}/${pointerPart(one.name)}`)
  }
}

interface Member {
  readonly name: string
  readonly value: JsonValue
}

/** The members of an object; what is deeper than they are is stepped over. */
const membersOf = (text: string, value: JsonValue): readonly Member[] => {
  const scan = scanJson(sourceOf(text, value), { keep: 1 })
  const moved = ({ start, end }: JsonValue): JsonValue => ({ start: start + value.start, end: end + value.start })
  if (isScanFault(scan)) return []
  if ((scan.root.members?.length ?? 0) > MAX_MEMBERS) throw tooMany()
  return (scan.root.members ?? []).map((member) => ({ name: member.name, value: moved(member.value) }))
}

/** `data`: which member holds data in base64. */
function* memberPart(
  text: string,
  { name, value, data }: Member & { readonly data: string | undefined },
  item: JsonValue,
  pointer: string,
): Generator<EditablePart> {
  if (name.length > NAME_CHARS) yield editableText('name', name, value, pointer, 0)
  if (name === data && text.charCodeAt(value.start) === QUOTE) yield dataPart(text, value, item, pointer)
  else if (!isWord(name, value)) yield* otherPart(text, value, pointer)
}

/** `_meta` is not for models. */
const isWord = (name: string, { start, end }: JsonValue): boolean =>
  name === '_meta' || (WORDS.has(name) && end - start <= WORD_CHARS)

/** A text, or the texts in what no revision has there. */
function* otherPart(text: string, value: JsonValue, pointer: string): Generator<EditablePart> {
  const first = text.charCodeAt(value.start)
  if (first === BRACE || first === BRACKET) yield* nestedParts(text, value, pointer)
  else yield* textPart(text, value, pointer)
}

function* nestedParts(text: string, value: JsonValue, pointer: string): Generator<EditablePart> {
  if (value.end - value.start > MAX_STRUCTURE)
    throw new Unexamined(`has a structure larger than the ${MAX_STRUCTURE} characters that are examined`)
  yield* structuredParts(sourceOf(text, value), pointer, value.start)
}

function* textPart(text: string, value: JsonValue, pointer: string): Generator<EditablePart> {
  const found = stringIn(text, value)
  if (found !== undefined && found !== '') yield editableText('text', found, value, pointer, 0)
}

/** Four characters of base64 are three bytes. */
const dataPart = (text: string, { start, end }: JsonValue, item: JsonValue, pointer: string): EditablePart => {
  const padding = /=*"$/.exec(text.slice(Math.max(start, end - 3), end))?.[0].length ?? 1
  const bytes = Math.max(0, Math.floor(((end - start - 2) * 3) / 4) - (padding - 1))
  return { ...editableText('data', '', item, pointer, 0), bytes }
}
