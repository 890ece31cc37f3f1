import { GuardError, type ProviderObject } from 'guard-gateway/core'
import { NONE, objectsIn } from '#lib/api-style'
import { type Span, uniqueMemberSpans } from '#lib/request-reader'

/** A message of a client, as far as it says what to do with it. */
export interface ClientFrame {
  readonly bytes: Buffer
  readonly type: string
  readonly previous_response_id: string | null
  /** What it names of the provider's account; of a message that asks for a response they are read with it. */
  readonly objects: readonly ProviderObject[]
}

/** A message that asks for a response. */
export interface CreateFrame extends ClientFrame {
  /** Undefined: the default lane. */
  readonly stream_id: string | undefined
  readonly warmup: boolean
}

/** Members that decide what becomes of a message: two readers must not read two values. */
const names = ['type', 'stream_id', 'generate', 'previous_response_id', 'input', 'model', 'tools', 'tool_choice']
const CREATE = 'response.create'

/** Throws INVALID_BODY unless the message is one JSON object with a type. A `create` is read as a whole by the reader of requests. */
export const readClientFrame = (bytes: Buffer): ClientFrame | CreateFrame => {
  const spans = uniqueMemberSpans(bytes, names)
  const type = valueAt(bytes, spans.get('type'))
  if (typeof type !== 'string')
    throw new GuardError('INVALID_BODY', 'The message has no "type" that is a text. Send one, as "response.create".', {
      path: '/type',
    })
  const frame = { bytes, type, previous_response_id: textOf(valueAt(bytes, spans.get('previous_response_id'))) ?? null }
  if (type === CREATE)
    return {
      ...frame,
      objects: NONE,
      stream_id: textOf(valueAt(bytes, spans.get('stream_id'))),
      warmup: valueAt(bytes, spans.get('generate')) === false,
    }
  // brackets and strings were looked at alone so far
  return { ...frame, objects: objectsIn(valueAt(bytes, { start: 0, end: bytes.length })) }
}

export const isCreate = (frame: ClientFrame): frame is CreateFrame => frame.type === CREATE

const valueAt = (bytes: Buffer, span: Span | undefined): unknown => {
  if (span === undefined) return undefined
  try {
    return JSON.parse(bytes.toString('utf8', span.start, span.end)) as unknown
  } catch {
    throw new GuardError('INVALID_BODY', `The message is not JSON: a value cannot be parsed at byte ${span.start}.`)
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
