import type { Part } from 'guard-gateway/core'
import { firstOf, isJsonObject, type JsonObject, jsonObjectOf, nonEmptyText } from '#lib/json'

/** Content of a message: its texts, what is no text, and tool calls that stand among them. */
export interface Content {
  readonly texts: string[]
  readonly blocks: unknown[]
  readonly calls: Part[]
}

export const noContent = (): Content => ({ texts: [], blocks: [], calls: [] })

const textTypes = new Set<unknown>(['text', 'input_text', 'output_text', 'summary_text', undefined])
const thoughtTypes = new Set<unknown>(['thinking', 'redacted_thinking', 'reasoning', 'reasoning_text'])
const mediaTypes = new Set<unknown>([
  'image',
  'document',
  'image_url',
  'input_image',
  'input_audio',
  'input_file',
  'file',
  'audio',
  'video_url',
  'computer_screenshot',
])

/** Reads content in any of its forms: a string, blocks, or a single block. Thoughts of the model are left out. */
export const contentOf = (content: unknown): Content => {
  if (typeof content === 'string') return { texts: hasText(content) ? [content] : [], blocks: [], calls: [] }
  const read = noContent()
  if (Array.isArray(content)) for (const block of content) addBlock(read, block)
  else if (content !== undefined && content !== null) addBlock(read, content)
  return read
}

/** Adds one block to what was read. */
export const addBlock = (read: Content, block: unknown): void => {
  if (typeof block === 'string') {
    addText(read, block)
    return
  }
  const shape = jsonObjectOf(block)
  if (thoughtTypes.has(shape.type)) return
  const call = genericCall(shape)
  if (call !== undefined) read.calls.push(call)
  else if (!addTexts(read, shape)) read.blocks.push(mediaTypes.has(shape.type) ? (sourceOf(shape) ?? block) : block)
}

/** White space as texts are hashed without it: a text that has no more says nothing. */
const BLANK = /^[\t-\r ]*$/

const hasText = (text: string): boolean => !BLANK.test(text)

const addText = ({ texts }: Content, text: string): void => {
  if (hasText(text)) texts.push(text)
}

/** Adds the texts of a block that is text; false for another block. */
const addTexts = (read: Content, block: JsonObject): boolean => {
  const text = textIn(block)
  if (text !== undefined) addText(read, text)
  else if (typeof block.stdout !== 'string' && typeof block.stderr !== 'string') return false
  else for (const printed of [block.stdout, block.stderr]) if (typeof printed === 'string') addText(read, printed)
  return true
}

const textIn = (block: JsonObject): string | undefined => {
  if (textTypes.has(block.type) && typeof block.text === 'string') return block.text
  if (block.type === 'refusal' && typeof block.refusal === 'string') return block.refusal
  return block.type === 'logs' && typeof block.logs === 'string' ? block.logs : undefined
}

/** The data, address or file id of an image, file or sound; of a data URL only the data, so that all dialects agree. */
const sourceOf = (block: JsonObject): string | null => {
  const source = jsonObjectOf(block.source)
  const file = jsonObjectOf(block.file)
  const places = [
    source.data,
    source.url,
    source.file_id,
    jsonObjectOf(block.image_url).url,
    block.image_url,
    jsonObjectOf(block.video_url).url,
    jsonObjectOf(block.input_audio).data,
    block.file_data,
    block.file_url,
    block.file_id,
    file.file_data,
    file.file_id,
    jsonObjectOf(block.audio).data,
  ]
  const found = places.find((place) => nonEmptyText(place) !== null) as string | undefined
  if (found === undefined) return null
  return found.startsWith('data:') ? found.slice(found.indexOf(',') + 1) : found
}

/** All that a message says, then its calls. */
export const messageParts = (kind: 'system' | 'user' | 'text', content: Content): Part[] => [
  ...contentParts(kind, content),
  ...content.calls,
]

/** One part of all that a message says, its texts joined by a space; none if it says nothing. */
export const contentParts = (kind: 'system' | 'user' | 'beside' | 'text', { texts, blocks }: Content): Part[] => {
  if (texts.length === 0 && blocks.length === 0) return []
  const text = joined(texts)
  return [blocks.length === 0 ? { kind, text } : { kind, text, blocks }]
}

export const callPart = (tool: unknown, args: unknown, id: unknown): Part => {
  const name = typeof tool === 'string' ? tool : ''
  const known = nonEmptyText(id)
  return known === null ? { kind: 'call', tool: name, args } : { kind: 'call', tool: name, args, id: known }
}

export const resultPart = (id: unknown, content: Content, failed: boolean | null): Part => {
  const part: Mutable<Extract<Part, { kind: 'result' }>> = { kind: 'result', text: joined(content.texts) }
  const known = nonEmptyText(id)
  if (known !== null) part.id = known
  if (content.blocks.length > 0) part.blocks = content.blocks
  if (failed !== null) part.error = failed
  return part
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** A result that the provider gives with its call. */
export const providerResultPart = (part: Part): Part => (part.kind === 'result' ? { ...part, served: true } : part)

/** A single text as it is: joined, it would be copied. */
const joined = (texts: readonly string[]): string => (texts.length === 1 ? (texts[0] ?? '') : texts.join(' '))

/** The call that a dialect-free `{ tool_name, … }` object stands for; undefined if it is none. */
export const genericCall = (shape: JsonObject): Part | undefined =>
  nonEmptyText(shape.tool_name) === null
    ? undefined
    : callPart(shape.tool_name, firstOf(shape.arguments, shape.tool_input, shape.input, shape.args), shape.call_id)

/** What is no message in any way: kept for the fingerprint, and nothing that could count as a user's word. */
export const unknownParts = (value: unknown): Part[] => [{ kind: 'system', text: '', blocks: [value] }]

/** What is in place of a list of messages: text is the user's, anything else is strange. */
export const unlistedParts = (value: unknown): Part[] => {
  if (value === undefined || value === null || Array.isArray(value)) return []
  return typeof value === 'string' ? contentParts('user', contentOf(value)) : unknownParts(value)
}

/** Whether a result says by a member of its own that the tool failed. */
export const isErrorResult = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some((entry) => isJsonObject(entry) && isErrorResult(entry))
  const shape = jsonObjectOf(value)
  if (shape.is_error === true || shape.isError === true || shape.success === false || shape.status === 'failed')
    return true
  const exit = firstOf(shape.exit_code, shape.return_code, jsonObjectOf(shape.outcome).exit_code)
  return (typeof exit === 'number' && exit !== 0) || jsonObjectOf(shape.outcome).type === 'timeout'
}

/** The tool calls among parts, as a reply's reading lists them. */
export const callsAmong = (parts: readonly Part[]): { id: string | null; tool: string; args: unknown }[] =>
  parts.flatMap((part) => (part.kind === 'call' ? [{ id: part.id ?? null, tool: part.tool, args: part.args }] : []))
