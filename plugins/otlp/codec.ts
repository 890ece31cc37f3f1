import { GuardError } from 'guard-gateway/core'
import { readJsonChunked } from 'guard-gateway/lib/json'
import { Pace } from 'guard-gateway/lib/time-slice'
import { traceMessages } from './trace-messages.ts'
import { truncateStrings } from './truncate-strings.ts'

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
