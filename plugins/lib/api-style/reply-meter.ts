import type { Meter, ProviderObject, Reading, ReplyAbout, Usage } from 'guard-gateway/core'
import { isJsonObject, type JsonObject, jsonIn, jsonObjectOf, nonEmptyText } from '#lib/json'
import { EventSplitter, type OnData } from '#lib/sse'
import { BufferedBody } from './buffered-body.ts'
import { StreamSplitter } from './stream-splitter.ts'

/** Arguments of one call that are kept; a call with more is left out of the reading. */
const MAX_ARGUMENTS = 1024 * 1024
const MESSAGE_LIMIT = 500

/** A reading that grows while the reply passes. */
export type Draft = { -readonly [K in keyof Omit<Reading, 'usage' | 'calls' | 'wordless'>]-?: Reading[K] } & {
  calls: Reading['calls'][number][]
  /** Tells that the reply names an object of the provider's account. */
  named: (object: ProviderObject) => void
  /** It holds reasoning. */
  reasoned: boolean
  /** It holds text or calls. */
  spoke: boolean
}

/** Adds the calls of a reply; there may be more of them than a function takes arguments. */
export const addCalls = (draft: Draft, calls: Draft['calls']): void => {
  for (const call of calls) draft.calls.push(call)
}

/** Takes over the model, the id and the service tier that a reply, or a piece of one, says. */
export const noteIdentity = (draft: Draft, { model, id, service_tier }: JsonObject): void => {
  draft.model = nonEmptyText(model) ?? draft.model
  draft.response_id = nonEmptyText(id) ?? draft.response_id
  draft.service_tier = nonEmptyText(service_tier) ?? draft.service_tier
}

/** Takes over calls that come whole, and counts the bytes of their arguments. */
export const addWholeCalls = (draft: Draft, calls: Draft['calls']): void => {
  addCalls(draft, calls)
  for (const { args } of calls) draft.output_bytes += argumentBytes(args)
}

/** UTF-8 bytes of arguments that are no text yet; of those that nest too deep to print, 0. */
export const argumentBytes = (args: unknown): number => {
  try {
    return Buffer.byteLength(JSON.stringify(args) ?? '')
  } catch {
    return 0
  }
}

/** The reply failed, and the stream ends with this event or body. */
export const noteError = (draft: Draft, value: unknown): void => {
  draft.error = providerError(value) ?? NO_DETAIL
  draft.complete = true
}

/** An error of which the provider says nothing. */
export const NO_DETAIL: NonNullable<Reading['error']> = Object.freeze({ type: null, code: null, message: '' })

/** What a dialect makes of a reply. `event` gets bytes that are there only during the call; `close` comes last. */
export interface ReplyReader {
  event(bytes: Buffer, start: number, end: number): void
  body(value: JsonObject): void
  close(): Usage | null
}

/** What is known of the streams of a dialect. */
export interface StreamOptions {
  /** They may be JSON as well as events: a value a line, or one array. */
  readonly json?: boolean
}

/** A meter that shows a dialect the events of a stream, or a whole body, whatever chunks they come in. */
export const replyMeter = (
  about: ReplyAbout,
  reader: (draft: Draft) => ReplyReader,
  options: StreamOptions = {},
): Meter => {
  const draft: Draft = {
    output_bytes: 0,
    model: null,
    response_id: null,
    finish_reason: null,
    service_tier: null,
    inference_geo: null,
    calls: [],
    named: about.named ?? unheard,
    error: null,
    complete: false,
    reasoned: false,
    spoke: false,
  }
  const dialect = reader(draft)
  return about.stream
    ? new StreamMeter(dialect, draft, about.status, options)
    : new BodyMeter(dialect, draft, about.status)
}

const unheard = (): void => {}

class StreamMeter implements Meter {
  readonly #dialect: ReplyReader
  readonly #draft: Draft
  readonly #status: number
  readonly #splitter: EventSplitter | StreamSplitter

  constructor(dialect: ReplyReader, draft: Draft, status: number, { json = false }: StreamOptions) {
    this.#dialect = dialect
    this.#draft = draft
    this.#status = status
    const onData: OnData = (bytes, start, end) => dialect.event(bytes, start, end)
    this.#splitter = json ? new StreamSplitter(onData) : new EventSplitter(onData, { shortens: true })
  }

  push(chunk: Uint8Array): void {
    this.#splitter.push(chunk)
  }

  end(): Reading {
    // images may make the event that ends a stream too long to read, which breaks nothing off
    this.#draft.complete ||= this.#splitter.lastWasTooLong
    this.#splitter.end()
    return readingOf(this.#draft, this.#dialect.close(), this.#status)
  }
}

class BodyMeter implements Meter {
  readonly #dialect: ReplyReader
  readonly #draft: Draft
  readonly #status: number
  readonly #body = new BufferedBody()

  constructor(dialect: ReplyReader, draft: Draft, status: number) {
    this.#dialect = dialect
    this.#draft = draft
    this.#status = status
  }

  push(chunk: Uint8Array): void {
    this.#body.push(chunk)
  }

  end(): Reading {
    const draft = this.#draft
    const text = bodyText(this.#body.chunks)
    const value = jsonIn(text)
    if (this.#status >= 400) {
      draft.error = providerError(value) ?? { type: null, code: null, message: text.trim().slice(0, MESSAGE_LIMIT) }
      draft.complete = value !== undefined
    } else if (isJsonObject(value)) {
      draft.complete = true
      this.#dialect.body(value)
    } else draft.output_bytes = this.#body.length
    return readingOf(draft, this.#dialect.close(), this.#status)
  }
}

const readingOf = (draft: Draft, usage: Usage | null, status: number): Reading => {
  const { output_bytes, model, response_id, finish_reason, service_tier, inference_geo, calls, complete } = draft
  const error = draft.error ?? (status >= 400 ? NO_DETAIL : null)
  const readable = calls.filter(({ args }) => typeof args !== 'string' || args.length <= MAX_ARGUMENTS)
  const metadata = { model, response_id, finish_reason, service_tier, inference_geo }
  const reading = { output_bytes, ...metadata, calls: readable, error, complete, usage }
  return error === null && hasNoText(draft, usage) ? { ...reading, wordless: true } : reading
}

/** Some providers do not send reasoning and report it in the usage alone. */
const hasNoText = ({ calls, spoke, reasoned, output_bytes }: Draft, usage: Usage | null): boolean =>
  calls.length === 0 && !spoke && (reasoned || (output_bytes === 0 && (usage?.reasoning_tokens ?? 0) > 0))

const utf8 = new TextDecoder()

/** A whole body as clients read it: a byte order mark before it is no part of it. */
const bodyText = (chunks: readonly Uint8Array[]): string =>
  utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))

/** The JSON object that a whole body is; an empty one if it is none. */
export const parsedBody = (chunks: readonly Uint8Array[]): JsonObject => jsonObjectOf(jsonIn(bodyText(chunks)))

/** The JSON object in these bytes; an empty one if there is none. */
export const parsedEvent = (bytes: Buffer, start: number, end: number): JsonObject =>
  jsonObjectOf(jsonIn(bytes.toString('utf8', start, end)))

/** A provider's error from a body or event that holds one, in any of the forms in use; null if there is none. */
export const providerError = (value: unknown): Reading['error'] => {
  const body = jsonObjectOf(Array.isArray(value) ? value[0] : value)
  if (nonEmptyText(body.error) !== null) return { type: null, code: null, message: nonEmptyText(body.error) ?? '' }
  const inner = isJsonObject(body.error) ? body.error : body
  const message = nonEmptyText(inner.message) ?? nonEmptyText(inner.detail)
  // Google says what kind it is as a status
  const type = inner.type === 'error' ? null : (nonEmptyText(inner.type) ?? nonEmptyText(inner.status))
  const code = typeof inner.code === 'number' ? String(inner.code) : nonEmptyText(inner.code)
  return inner === body && message === null && code === null ? null : { type, code, message: message ?? '' }
}

/** Collects one call's arguments as they stream by; what is over 1 MiB makes the call drop out of the reading. */
export class ArgumentText {
  #text = ''
  add(piece: unknown): number {
    if (typeof piece !== 'string') return 0
    if (this.#text.length <= MAX_ARGUMENTS) this.#text += piece
    return Buffer.byteLength(piece)
  }
  get text(): string {
    return this.#text
  }
}
