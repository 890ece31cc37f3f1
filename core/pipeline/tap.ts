import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import type { Meter } from '../contracts/api-style.ts'
import type { Reading } from '../settled.ts'

/** A meter that sees every chunk of a reply, decoded if need be, and can neither delay nor break the reply. */
export interface Tap {
  push(chunk: Uint8Array): void
  end(): Reading | Promise<Reading>
}

/** The reading of a call without a reply. */
export const noReading: Reading = Object.freeze({
  usage: null,
  output_bytes: 0,
  model: null,
  response_id: null,
  finish_reason: null,
  calls: Object.freeze([]),
  error: null,
  complete: false,
})

/** The reading of a reply that could not be parsed; how the reply ended is unknown. */
export const unreadable: Reading = Object.freeze({ ...noReading })

/** The content encoding is absent or `identity`. */
export const isPlain = (encoding: string | undefined): boolean =>
  encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity'

type Decoder = ReturnType<typeof createGunzip>

/** Decoders by content coding; some need the first byte to know what they are to read. */
const decoders: ReadonlyMap<string, (first: number) => Decoder> = new Map<string, (first: number) => Decoder>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  // it means the zlib form, but some servers leave that out, and clients read both
  ['deflate', (first) => ((first & 0x0f) === ZLIB ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress() as never],
  ['zstd', () => createZstdDecompress() as never],
])
const ZLIB = 8

type Fault = (error: unknown) => void

/** A tap for a reply of this content encoding; a reply in an unknown encoding passes unread. */
export const createTap = (meter: Meter, encoding: string | undefined, fault: Fault): Tap => {
  const safe = faultSafe(meter, fault)
  if (isPlain(encoding)) return safe
  const open = decoders.get(encoding?.toLowerCase() ?? '')
  return open === undefined ? { push: () => {}, end: () => unreadable } : decoding(safe, open)
}

/** Decompresses a reply for its tap. */
const decoding = (safe: Tap, open: (first: number) => Decoder): Tap => {
  let decoder: Decoder | undefined
  const decoded = Promise.withResolvers<void>()
  return {
    push: (chunk) => {
      const [first] = chunk
      if (first === undefined) return
      decoder ??= open(first)
        .on('data', (bytes: Uint8Array) => safe.push(bytes))
        .once('end', decoded.resolve)
        .once('error', () => decoded.resolve())
      decoder.write(chunk)
    },
    end: async () => {
      if (decoder !== undefined) {
        decoder.end()
        await decoded.promise
      }
      return safe.end()
    },
  }
}

const faultSafe = (meter: Meter, fault: Fault): Tap => {
  let failed = false
  return {
    push: (chunk) => {
      if (failed) return
      try {
        meter.push(chunk)
      } catch (error) {
        failed = true
        fault(error)
      }
    },
    end: () => {
      if (failed) return unreadable
      try {
        return checkedReading(meter.end())
      } catch (error) {
        fault(error)
        return unreadable
      }
    },
  }
}

/** Checks a meter's result. Throws TypeError, since every settle tap relies on its members. */
const checkedReading = (value: Reading): Reading => {
  const fault = faultIn(value)
  if (fault === undefined) return value
  throw new TypeError(`a meter gives a reading at its end; this one has ${fault}`)
}

const faultIn = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null) return 'no object'
  const { usage, output_bytes, model, response_id, finish_reason, calls, error, complete } = value as Partial<Reading>
  const { service_tier = null, inference_geo = null } = value as Partial<Reading>
  if (!Array.isArray(calls) || !calls.every(isCall)) return 'no list of calls'
  if (!isCount(output_bytes)) return 'no number as output_bytes'
  if (usage !== null && !isUsage(usage)) return 'no counts as usage'
  if (![model, response_id, finish_reason, service_tier, inference_geo].every(isWord))
    return 'a model, response_id, finish_reason, service_tier or inference_geo that is no text'
  if (typeof error !== 'object') return 'an error that is neither null nor an object'
  return typeof complete === 'boolean' ? undefined : 'no complete'
}

const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
const isWord = (value: unknown): boolean => value === null || typeof value === 'string'
const isCall = (call: unknown): boolean =>
  typeof call === 'object' && call !== null && typeof Reflect.get(call, 'tool') === 'string'

const counts = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'reasoning_tokens',
  'total_tokens',
] as const

const isUsage = (usage: Reading['usage'] | undefined): boolean => {
  if (typeof usage !== 'object' || usage === null) return false
  for (const name of counts) if (!isCount(usage[name])) return false
  return true
}
