import { isUtf8 } from 'node:buffer'
import { GuardError } from 'guard-gateway/core'
import type { ImportContext, ImportReading, ImportSource, ImportWarning, RebuiltRequest } from '#lib/export-format'
import { isJsonObject, type JsonObject, syntaxErrorAt } from '#lib/json'
import {
  byteLines,
  errorAt,
  ImportFault,
  type ImportLocation,
  lineAndPointer,
  memberLocation,
  parseImport,
  recordAt,
  traceFileErrors,
} from '#lib/trace-file'
import { readConvertedFile } from './otlp/converted-file.ts'
import type { Recorded, SessionEntry, SessionHead, SessionReply } from './otlp/session-file/entries.ts'
import { sessionSpans } from './otlp/session-file/spans.ts'

export { isContentEvent } from './otlp/content/content-names.ts'
export { MetadataOnly } from './otlp/content/metadata-only.ts'
export { type ConvertedSpan, readConvertedFile } from './otlp/converted-file.ts'
export { readOtlpFile } from './otlp/file.ts'
export { fitAttributes } from './otlp/fit-attributes.ts'

export { fromOtlp, type OtlpOptions, type OtlpReading, type OtlpRun } from './otlp/map.ts'
export { guardNames, semconv } from './otlp/names.ts'
export {
  MAIN,
  type Recorded,
  type SessionCall,
  type SessionEntry,
  type SessionHead,
  type SessionReply,
} from './otlp/session-file/entries.ts'

export { otlpAttributes, otlpSpanJson, type SpanParts } from './otlp/span-json.ts'
export { otlpArtifact, otlpEvent, otlpResource, otlpSpan } from './otlp/write.ts'

/** An id of up to so many hex digits, filled up with zeros in front. Throws ImportFault. */
export const hexIdOf = (record: JsonObject, key: string, digits: 16 | 32, place: ImportLocation): string => {
  const id = record[key]
  if (typeof id === 'string' && id.length <= digits && /^[0-9a-fA-F]+$/.test(id))
    return id.toLowerCase().padStart(digits, '0')
  throw new ImportFault(
    traceFileErrors.INVALID_ID,
    `"${key}" must be 1 to ${digits} hex digits.`,
    memberLocation(place, key),
  )
}

const MICRO = 1_000n

/** Nanoseconds of a member in microseconds; 0 where it is absent. Throws ImportFault. */
export const nsOfMicros = (record: JsonObject, key: string, place: ImportLocation): bigint => {
  const value = record[key] ?? 0
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value) * MICRO
  throw new ImportFault(traceFileErrors.INVALID_TIME, `"${key}" must be microseconds.`, memberLocation(place, key))
}

const wrong = (place: ImportLocation, key: string, expected: string): ImportFault =>
  new ImportFault(traceFileErrors.INVALID_IMPORT, `"${key}" must be ${expected}.`, memberLocation(place, key))

/** A text member; undefined where it is absent or null. Throws ImportFault for another value. */
export const textOf = (record: JsonObject, key: string, place: ImportLocation): string | undefined => {
  const value = record[key]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw wrong(place, key, 'a string')
}

/** An object member; undefined where it is absent or null. Throws ImportFault for another value. */
export const objectOf = (record: JsonObject, key: string, place: ImportLocation): JsonObject | undefined => {
  const value = record[key]
  if (value === undefined || value === null) return undefined
  if (isJsonObject(value)) return value
  throw wrong(place, key, 'an object')
}

/** A list member, of its objects; none where it is absent or null. Throws ImportFault for another value. */
export const objectsOf = (record: JsonObject, key: string, place: ImportLocation): readonly JsonObject[] => {
  const value = record[key]
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.filter(isJsonObject)
  throw wrong(place, key, 'an array')
}

/** A count of tokens; 0 where it is absent or null. Throws ImportFault for what is no integer from 0. */
export const tokensOf = (record: JsonObject, key: string, place: ImportLocation): number => {
  const value = record[key]
  if (value === undefined || value === null) return 0
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw wrong(place, key, 'a number of tokens: an integer from 0')
}

const MIN_MS = 0
const MAX_MS = 253_402_300_799_999
const MS = 1_000_000n

/** Nanoseconds of a time in text such as 2026-01-31T12:00:00.000Z; undefined where it is absent. Throws ImportFault. */
export const timeOf = (record: JsonObject, key: string, place: ImportLocation): bigint | undefined => {
  const text = textOf(record, key, place)
  if (text === undefined) return undefined
  const ms = Date.parse(text)
  if (ms >= MIN_MS && ms <= MAX_MS) return BigInt(ms) * MS
  throw new ImportFault(
    traceFileErrors.INVALID_TIME,
    `"${key}" must be a time like 2026-01-31T12:00:00.000Z.`,
    memberLocation(place, key),
  )
}

/** How an API style writes a conversation down. */
export interface ConversationStyle {
  /** Id of the API style. */
  readonly id: string
  /** Member of a request that holds the conversation. */
  readonly member: string
  /** Items as one request has them: several that stand together may be one message. */
  joined(items: readonly JsonObject[]): readonly JsonObject[]
}

/** The model requests of a session file, each with the conversation up to it. Throws GuardError with line and pointer. */
export function* sessionRequests(
  read: SessionReader,
  style: ConversationStyle,
  file: ImportSource,
): Generator<RebuiltRequest> {
  const conversations = new Map<SessionHead, Map<string, Conversation>>()
  for (const { head, entry } of inOrder(read(file, () => {}))) {
    const threads = conversations.get(head) ?? new Map<string, Conversation>()
    conversations.set(head, threads)
    const conversation = threads.get(entry.thread) ?? new Conversation(style)
    threads.set(entry.thread, conversation)
    if (entry.type === 'reply') yield requestOf(head, entry, style, conversation)
    conversation.add(entry)
  }
}

/** Entries in the order in which they happened: subagents work beside each other, and stand one after another in a file. */
const inOrder = (entries: Iterable<Recorded>): readonly Recorded[] => {
  const last = new Map<SessionHead, Map<string, bigint>>()
  const timed = Array.from(entries, (recorded) => {
    const { head, entry } = recorded
    const threads = last.get(head) ?? new Map<string, bigint>()
    last.set(head, threads)
    const before = threads.get(entry.thread) ?? 0n
    const at = entry.type === 'reply' ? entry.started_ns : entry.at_ns
    const ns = at > before ? at : before
    threads.set(entry.thread, ns)
    return { recorded, ns }
  })
  return timed.sort((a, b) => (a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0)).map(({ recorded }) => recorded)
}

/** A conversation as it grows. What a reply has closed does not change any more. */
class Conversation {
  readonly #style: ConversationStyle
  #items: JsonObject[] = []
  #closed = 0
  #texts: string[] = []

  constructor(style: ConversationStyle) {
    this.#style = style
  }

  add(entry: SessionEntry): void {
    if (entry.type === 'rewind') {
      this.#items = this.#items.slice(0, entry.keep)
      this.#closed = 0
      this.#texts = []
    } else if (entry.type === 'input') this.#items.push(...entry.items)
    else if (entry.type === 'reply' && entry.items.length > 0) {
      this.#texts.push(...this.#open())
      this.#texts.push(...this.#style.joined(entry.items).map((item) => JSON.stringify(item)))
      this.#items.push(...entry.items)
      this.#closed = this.#items.length
    }
  }

  body(model: string): Buffer {
    const list = [...this.#texts, ...this.#open()].join(',')
    return Buffer.from(`{"model":${JSON.stringify(model)},"${this.#style.member}":[${list}]}`)
  }

  #open(): readonly string[] {
    return this.#style.joined(this.#items.slice(this.#closed)).map((item) => JSON.stringify(item))
  }
}

const NS_PER_MS = 1_000_000n

const requestOf = (
  { session_id, agent }: SessionHead,
  reply: SessionReply,
  { id: style }: ConversationStyle,
  conversation: Conversation,
): RebuiltRequest => {
  const { started_ns, at_ns, response_id, usage, cost, calls, text, error } = reply
  const model = reply.requested_model ?? reply.model ?? 'unknown'
  return {
    session_id,
    agent,
    style,
    body: conversation.body(model),
    at: Number((started_ns < at_ns ? started_ns : at_ns) / NS_PER_MS),
    ended_at: Number(at_ns / NS_PER_MS),
    model,
    usage,
    cost,
    response_id: response_id ?? null,
    calls,
    text,
    wordless: isWordless(reply),
    error: error === undefined ? undefined : { type: error.type, status: error.status },
  }
}

const REASONING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning'])

const isWordless = ({ items, text, calls }: SessionReply): boolean => {
  const parts = items.flatMap((item) =>
    item.type === undefined && Array.isArray(item.content) ? item.content : [item],
  )
  return text === '' && calls.length === 0 && parts.length > 0 && parts.every(({ type }) => REASONING.has(type))
}

/** Messages, of which those of one role that stand together are one. */
export const joinedMessages = (items: readonly JsonObject[]): readonly JsonObject[] => {
  const messages: { role: unknown; content: unknown[] }[] = []
  for (const { role, content } of items) {
    const blocks = Array.isArray(content) ? content : [{ type: 'text', text: String(content ?? '') }]
    const last = messages.at(-1)
    if (last?.role === role) last?.content.push(...blocks)
    else messages.push({ role, content: [...blocks] })
  }
  return messages as unknown as readonly JsonObject[]
}

/** What is recorded in a session file, in its order; `cut` is told of lines that break off. Throws GuardError with line and pointer. */
export type SessionReader = (file: ImportSource, cut: OnCut) => Iterable<Recorded>

const MAX_NAMED = 20
const EMPTY: Omit<ImportReading, 'warnings'> = { runs: [], records: () => [] }
const NOTHING: ImportWarning = { code: 'nothing_found', message: 'The file holds no request of an agent.' }

/** Reads a session file as runs: a run a session, without what people, models and tools said. */
export const readSessionFile = (read: SessionReader, file: ImportSource, context: ImportContext): ImportReading => {
  let cut: ImportWarning[] = []
  const ignored: OnCut = (warning) => {
    if (cut.length < MAX_NAMED && !cut.some(({ line }) => line === warning.line)) cut.push(warning)
  }
  if (read(file, ignored)[Symbol.iterator]().next().done === true) return { ...EMPTY, warnings: [...cut, NOTHING] }
  const reading = readConvertedFile(() => {
    cut = []
    return sessionSpans(read(file, ignored), context)
  })
  return { ...reading, warnings: [...cut, ...reading.warnings] }
}

/** Schemas of tools stand in session files. */
const MAX_DEPTH = 256

export interface SessionLine {
  readonly record: JsonObject
  readonly place: ImportLocation & { readonly line: number }
}

/** Called for a line that breaks off. */
export type OnCut = (warning: ImportWarning) => void

/**
 * The records of a session file, one a line. A line that breaks off is ignored: an agent may be writing it, or have died.
 * Throws GuardError with line and pointer for any other that is no JSON object.
 */
export function* sessionLines(file: ImportSource, cut: OnCut): Generator<SessionLine> {
  for (const { parts, line, ended } of byteLines(file)) {
    const bytes = Buffer.concat(parts)
    if (!isUtf8(bytes) && ended)
      throw new GuardError(traceFileErrors.INVALID_IMPORT, `Line ${line}: it is not UTF-8 text.`, { line })
    const text = bytes.toString().trim()
    if (text === '') continue
    const place = { path: [], line }
    const value = parsedUnlessCut(text, line)
    if (value === CUT) cut({ code: 'line_ignored', message: 'The line breaks off and was ignored.', line })
    else yield { record: located(() => recordAt(value, place)), place }
  }
}

const CUT = Symbol('cut')

const parsedUnlessCut = (text: string, line: number): unknown => {
  try {
    return parseImport(text, MAX_DEPTH, line)
  } catch (error) {
    const isCut = text.startsWith('{') && (syntaxErrorAt(text)?.at ?? 0) >= text.length
    if (isCut && error instanceof GuardError && error.code === 'INVALID_JSON') return CUT
    throw error
  }
}

/** Gives a fault in a line its line and pointer. */
export const located = <T>(read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw errorAt(error, (place) => lineAndPointer('', { ...place, line: place.line ?? 1 }))
  }
}
