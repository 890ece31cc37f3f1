import { GuardError } from 'guard-gateway/core'
import { readJsonChunked } from 'guard-gateway/lib/json'
import { Pace } from 'guard-gateway/lib/time-slice'
import { traceMessages } from './trace-messages.ts'
import { truncateStrings } from './truncate-strings.ts'

/** What was not taken of a request that was: a count and the reason. */
export interface PartialSuccess {
  readonly rejectedSpans: number
  readonly errorMessage: string
}

/** An error in the form of google.rpc.Status. */
export interface ErrorStatus {
  readonly code: number
  readonly message: string
}

/** One of the two forms in which OTLP is spoken over HTTP. */
export interface Codec {
  readonly mediaType: string
  /** Trace data in the shape of OTLP/JSON; a large body is read in turns with other work. Throws INVALID_JSON or INVALID_BODY. */
  read(bytes: Buffer): Promise<unknown>
  /** The answer to a request that was taken, whole where `partial` is undefined. */
  success(partial: PartialSuccess | undefined): string | Buffer
  failure(status: ErrorStatus): string | Buffer
}

/** One level of an attribute is up to four in OTLP; attributes nest 32 deep. */
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
        // integers as digits, numbers that are not finite as their names: the shape of OTLP/JSON
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

/** What speaks the form of a content type; undefined if it is none of OTLP's. The protobuf reader is loaded when first asked for. */
export const codecFor = async (contentType: string | undefined): Promise<Codec | undefined> => {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/json') return json
  if (type !== 'application/x-protobuf') return undefined
  protobuf ??= loadProtobuf()
  return protobuf
}

/** The form of answers to those who spoke none. */
export const plainCodec: Codec = json
