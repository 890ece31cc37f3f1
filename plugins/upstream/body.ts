import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { GuardError, isPlain } from 'guard-gateway/core'
import { isZlibStream, withInflated } from '#lib/http'
import { memberSpan } from '#lib/request-reader'
import type { Upstream } from './upstream.ts'

/** The largest body that is unpacked to change it; larger ones were refused before. */
const MAX_BYTES = 1_073_741_824

/** A body to send. */
export interface OutboundBody {
  readonly bytes: Buffer
  /** The reply will carry a usage chunk that the client did not ask for. */
  readonly usage_requested: boolean
}

/** What is known of a body without reading it. */
export interface InboundBody {
  readonly bytes: Buffer
  readonly encoding: string | undefined
  readonly style: string
  readonly model: string | null
  readonly stream: boolean
}

/** The body an upstream gets: the bytes as they came, unless an option of that upstream changes one member. */
export const bodyFor = (upstream: Upstream, inbound: InboundBody): OutboundBody | Promise<OutboundBody> => {
  const model = inbound.model === null ? undefined : upstream.model_map.get(inbound.model)
  const usage = upstream.inject_stream_usage && inbound.stream && inbound.style === 'chat_completions'
  if (model === undefined && !usage) return { bytes: inbound.bytes, usage_requested: false }
  return rewritten(inbound, model, usage)
}

/** A body that came compressed goes so again: as it is inside, it would take up to a thousand times the memory until it is sent. */
const rewritten = (
  { bytes, encoding }: InboundBody,
  model: string | undefined,
  usage: boolean,
): OutboundBody | Promise<OutboundBody> =>
  isPlain(encoding)
    ? edited(bytes, model, usage)
    : withInflated(bytes, encoding, MAX_BYTES, async (plain) => {
        const sent = edited(plain, model, usage)
        return { ...sent, bytes: sent.bytes === plain ? bytes : await compressedAs(bytes, sent.bytes, encoding) }
      })

const edited = (plain: Buffer, model: string | undefined, usage: boolean): OutboundBody => {
  const mapped = model === undefined ? plain : withModel(plain, model)
  const asking = usage ? withUsageOption(mapped) : undefined
  return { bytes: asking ?? mapped, usage_requested: asking !== undefined }
}

const splice = (json: Buffer, start: number, end: number, text: string): Buffer =>
  Buffer.concat([json.subarray(0, start), Buffer.from(text), json.subarray(end)])

/** The body with another model; every other byte stays. */
export const withModel = (json: Buffer, model: string): Buffer => {
  const span = memberSpan(json, 'model')
  return span === undefined ? json : splice(json, span.start, span.end, JSON.stringify(model))
}

/** The body with a wish for usage in its stream; undefined if it says something about that already. */
const withUsageOption = (json: Buffer): Buffer | undefined => {
  const span = memberSpan(json, 'stream_options')
  if (span === undefined) {
    const open = json.indexOf('{')
    return splice(json, open + 1, open + 1, '"stream_options":{"include_usage":true},')
  }
  const options = json.subarray(span.start, span.end)
  if (options[0] !== 0x7b) return splice(json, span.start, span.end, '{"include_usage":true}')
  if (memberSpan(options, 'include_usage') !== undefined) return undefined
  const empty = /^\{\s*\}$/.test(options.toString())
  return splice(json, span.start + 1, span.start + 1, `"include_usage":true${empty ? '' : ','}`)
}

type Compress = (bytes: Buffer) => Promise<Buffer>

const gzip: Compress = promisify(zlib.gzip)
const brotli = promisify(zlib.brotliCompress)
/** Brotli's own default takes a second for a megabyte. */
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }

const compressors: ReadonlyMap<string, Compress> = new Map<string, Compress>([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', promisify(zlib.deflate)],
  ['br', (bytes) => brotli(bytes, BROTLI)],
  ['zstd', promisify(zlib.zstdCompress)],
])

const deflateRaw: Compress = promisify(zlib.deflateRaw)

/** The bytes in the content encoding in which they came as `before`, compressed off the event loop. Throws UNSUPPORTED_ENCODING. */
const compressedAs = (before: Buffer, bytes: Buffer, encoding: string | undefined): Promise<Buffer> => {
  const name = encoding?.toLowerCase() ?? ''
  const compress = name === 'deflate' && !isZlibStream(before) ? deflateRaw : compressors.get(name)
  if (compress === undefined) throw new GuardError('UNSUPPORTED_ENCODING')
  return compress(bytes)
}
