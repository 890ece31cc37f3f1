import { memberSpan, type Span, uniqueMemberSpans } from '#lib/request-reader'

/** A message of an upstream, as far as it says whose it is. */
export interface UpstreamEvent {
  readonly kind: 'created' | 'terminal' | 'error' | 'other'
  /** Undefined: the default lane, or none. */
  readonly stream_id: string | undefined
  readonly response_id: string | undefined
  /** Of an error; undefined where it says none that HTTP has. */
  readonly status: number | undefined
  /** The response ended because user input was queued for it: another one follows by itself. */
  readonly steered: boolean
}

const other: UpstreamEvent = {
  kind: 'other',
  stream_id: undefined,
  response_id: undefined,
  status: undefined,
  steered: false,
}

const kinds: ReadonlyMap<string, UpstreamEvent['kind']> = new Map([
  ['response.created', 'created'],
  ['response.completed', 'terminal'],
  ['response.incomplete', 'terminal'],
  ['response.failed', 'terminal'],
  ['error', 'error'],
])
const names = ['type', 'stream_id', 'response', 'response_id', 'status', 'status_code']

/** Reads the few members that matter; of what is no JSON object, nothing. */
export const readUpstreamEvent = (bytes: Buffer): UpstreamEvent => {
  try {
    const spans = uniqueMemberSpans(bytes, names)
    const kind = kinds.get(String(valueAt(bytes, spans.get('type')))) ?? 'other'
    const stream_id = textOf(valueAt(bytes, spans.get('stream_id')))
    const response = spans.get('response')
    return {
      kind,
      stream_id,
      response_id: idOf(bytes, response) ?? textOf(valueAt(bytes, spans.get('response_id'))),
      status: statusOf(valueAt(bytes, spans.get('status')) ?? valueAt(bytes, spans.get('status_code'))),
      steered: kind === 'terminal' && isSteered(bytes, response),
    }
  } catch {
    return other
  }
}

const valueAt = (bytes: Buffer, span: Span | undefined): unknown =>
  span === undefined || span.end - span.start > MAX_VALUE
    ? undefined
    : (JSON.parse(bytes.toString('utf8', span.start, span.end)) as unknown)
/** Longer values are none of those that are looked for. */
const MAX_VALUE = 4_096

const inside = (bytes: Buffer, span: Span | undefined, name: string): unknown => {
  if (span === undefined) return undefined
  const object = bytes.subarray(span.start, span.end)
  return object[0] === OPEN ? valueAt(object, memberSpan(object, name)) : undefined
}
const OPEN = 0x7b

const idOf = (bytes: Buffer, response: Span | undefined): string | undefined => textOf(inside(bytes, response, 'id'))

const isSteered = (bytes: Buffer, response: Span | undefined): boolean => {
  const details = inside(bytes, response, 'incomplete_details')
  return typeof details === 'object' && details !== null && Reflect.get(details, 'reason') === 'steered'
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const statusOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599 ? value : undefined
