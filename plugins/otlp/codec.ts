import { GuardError } from 'guard-gateway/core'
import type { INamespace } from 'protobufjs'
import { JsonMarks, mark, readJsonChunked } from '#lib/json'
import { Pace, paced } from '#lib/time-slice'

const BACKSLASH = 0x5c
const LOWER_U = 0x75

/** Bytes of a JSON string that are retained; metadata and previews are shorter. */
const MAX_STRING_BYTES = 4_096
/** A body up to this size is not truncated. */
const MIN_BODY_BYTES = 1_048_576

/** Bytes per step. */
const CHUNK_BYTES = 65_536

/**
 * Truncates long strings in JSON bytes, so that a large body costs little more than its retained part. Yields to other work. Invalid JSON
 * stays invalid.
 */
export const truncateStrings = async (bytes: Buffer, pace: Pace): Promise<Buffer> => {
  if (bytes.length <= MIN_BODY_BYTES) return bytes
  const truncator = new StringTruncator(bytes)
  await paced(truncator.steps(), pace)
  return truncator.result()
}

/** Finds long JSON strings and truncates them. */
class StringTruncator {
  readonly #bytes: Buffer
  readonly #pieces: Buffer[] = []
  #from = 0
  #open = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  *steps(): Generator<void> {
    const marks = new JsonMarks()
    for (let at = 0; at < this.#bytes.length; at += CHUNK_BYTES) {
      marks.feed(this.#bytes.subarray(at, at + CHUNK_BYTES))
      for (let byte = marks.next(); byte !== 0; byte = marks.next()) this.#mark(byte, at + marks.at)
      yield
    }
  }

  /** The truncated text. */
  result(): Buffer {
    return this.#from === 0 ? this.#bytes : Buffer.concat([...this.#pieces, this.#bytes.subarray(this.#from)])
  }

  #mark(byte: number, at: number): void {
    if (byte === mark.string) this.#open = at
    else if (byte === mark.stringEnd && at - this.#open - 1 > MAX_STRING_BYTES) {
      this.#pieces.push(this.#bytes.subarray(this.#from, truncationOffset(this.#bytes, this.#open + 1)))
      this.#from = at
    }
  }
}

/** Last offset within the limit that splits no escape and no character. */
const truncationOffset = (bytes: Buffer, from: number): number => {
  const limit = from + MAX_STRING_BYTES
  let at = from
  while (at < limit) {
    const length = bytes[at] !== BACKSLASH ? 1 : bytes[at + 1] === LOWER_U ? 6 : 2
    if (at + length > limit) return at
    at += length
  }
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at--
  return at
}

/** Count and reason of rejected records. */
export interface PartialSuccess {
  readonly rejectedSpans: number
  readonly errorMessage: string
}

/** Error as google.rpc.Status. */
export interface ErrorStatus {
  readonly code: number
  readonly message: string
}

/** An encoding of OTLP over HTTP. */
export interface Codec {
  readonly mediaType: string
  /** Decodes trace data into the shape of OTLP/JSON. A large body yields to other work. Throws INVALID_JSON or INVALID_BODY. */
  read(bytes: Buffer): Promise<unknown>
  /** Response of an accepted request; complete success if `partial` is undefined. */
  success(partial: PartialSuccess | undefined): string | Buffer
  failure(status: ErrorStatus): string | Buffer
}

/** A level of attributes is up to four levels of OTLP, and attributes nest 32 levels. */
const MAX_DEPTH = 160

const json: Codec = {
  mediaType: 'application/json',
  read: async (bytes) => {
    const pace = new Pace()
    return readJsonChunked(await truncateStrings(bytes, pace), { max_depth: MAX_DEPTH, unique: true }, pace)
  },
  success: (partial) =>
    partial === undefined
      ? '{}'
      : JSON.stringify({ partialSuccess: { ...partial, rejectedSpans: String(partial.rejectedSpans) } }),
  failure: (status) => JSON.stringify(status),
}

const loadProtobuf = async (): Promise<Codec> => {
  const { default: protobuf } = await import('protobufjs/light.js')
  const root = protobuf.Root.fromJSON(traceMessages)
  const [traces, response, failure] = ['TracesData', 'ExportResponse', 'ErrorStatus'].map((name) =>
    root.lookupType(name),
  ) as [ReturnType<typeof root.lookupType>, ReturnType<typeof root.lookupType>, ReturnType<typeof root.lookupType>]
  const written = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    mediaType: 'application/x-protobuf',
    async read(bytes) {
      try {
        // int64 as text and non-finite numbers by name, as in OTLP/JSON
        return traces.toObject(traces.decode(bytes), { longs: String, json: true })
      } catch (cause) {
        throw new GuardError('INVALID_BODY', 'The body is not OTLP trace data in protobuf.', { cause })
      }
    },
    success: (partial) =>
      written(response.encode(partial === undefined ? {} : { partialSuccess: { ...partial } }).finish()),
    failure: (status) => written(failure.encode({ ...status }).finish()),
  }
}

let protobuf: Promise<Codec> | undefined

/** Codec of a content type; undefined for an unsupported one. The protobuf library loads on first use. */
export const codecFor = async (contentType: string | undefined): Promise<Codec | undefined> => {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/json') return json
  if (type !== 'application/x-protobuf') return undefined
  protobuf ??= loadProtobuf()
  return protobuf
}

/** Codec of responses to requests without a supported content type. */
export const defaultCodec: Codec = json

type Fields = Readonly<Record<string, readonly [type: string, id: number]>>

const message = (fields: Fields, repeated: readonly string[] = []) => ({
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, [type, id]]) => [
      name,
      repeated.includes(name) ? { rule: 'repeated', type, id } : { type, id },
    ]),
  ),
})

const anyValue = message({
  stringValue: ['string', 1],
  boolValue: ['bool', 2],
  intValue: ['int64', 3],
  doubleValue: ['double', 4],
  arrayValue: ['ArrayValue', 5],
  kvlistValue: ['KeyValueList', 6],
  bytesValue: ['bytes', 7],
})

/**
 * Protobuf messages of the OTLP trace service, with the names of OTLP/JSON. Unused fields are
 * absent, so the decoder skips them. Enumerations are integers, so that a new value is no error.
 */
const traceMessages: INamespace = {
  nested: {
    TracesData: message({ resourceSpans: ['ResourceSpans', 1] }, ['resourceSpans']),
    ResourceSpans: message({ resource: ['Resource', 1], scopeSpans: ['ScopeSpans', 2] }, ['scopeSpans']),
    Resource: message({ attributes: ['KeyValue', 1] }, ['attributes']),
    ScopeSpans: message({ scope: ['Scope', 1], spans: ['Span', 2] }, ['spans']),
    Scope: message({ name: ['string', 1], version: ['string', 2] }),
    Span: message(
      {
        traceId: ['bytes', 1],
        spanId: ['bytes', 2],
        traceState: ['string', 3],
        parentSpanId: ['bytes', 4],
        name: ['string', 5],
        kind: ['int32', 6],
        startTimeUnixNano: ['fixed64', 7],
        endTimeUnixNano: ['fixed64', 8],
        attributes: ['KeyValue', 9],
        events: ['Event', 11],
        links: ['Link', 13],
        status: ['Status', 15],
      },
      ['attributes', 'events', 'links'],
    ),
    Event: message({ timeUnixNano: ['fixed64', 1], name: ['string', 2], attributes: ['KeyValue', 3] }, ['attributes']),
    Link: message({ traceId: ['bytes', 1], spanId: ['bytes', 2], attributes: ['KeyValue', 4] }, ['attributes']),
    Status: message({ message: ['string', 2], code: ['int32', 3] }),
    KeyValue: message({ key: ['string', 1], value: ['AnyValue', 2] }),
    AnyValue: { ...anyValue, oneofs: { value: { oneof: Object.keys(anyValue.fields) } } },
    ArrayValue: message({ values: ['AnyValue', 1] }, ['values']),
    KeyValueList: message({ values: ['KeyValue', 1] }, ['values']),
    ExportResponse: message({ partialSuccess: ['PartialSuccess', 1] }),
    PartialSuccess: message({ rejectedSpans: ['int64', 1], errorMessage: ['string', 2] }),
    ErrorStatus: message({ code: ['int32', 1], message: ['string', 2] }),
  },
}
