import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import type { Meter } from '../contracts/api-style.ts'
import { isPlain } from '../request-body/inflate.ts'
import type { Reading } from '../settled.ts'

/** A meter beside a reply: it sees every chunk, decoded if need be, and can neither delay nor break what it watches. */
export interface Tap {
  push(chunk: Uint8Array): void
  end(): Reading | Promise<Reading>
}

/** What is known of a reply that nobody could read. */
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

/** The reading of a reply that came and could not be read here: nobody can tell from it how the reply ended. */
export const unread: Reading = Object.freeze({ ...noReading })

const decoders: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress() as never,
  zstd: () => createZstdDecompress() as never,
}

type Fault = (error: unknown) => void

/** A tap for a reply of this content encoding; a reply in an encoding that nobody knows passes unread. */
export const createTap = (meter: Meter, encoding: string | undefined, fault: Fault): Tap => {
  const watched = guarded(meter, fault)
  if (isPlain(encoding)) return watched
  const name = encoding?.toLowerCase() ?? ''
  const decoder = Object.hasOwn(decoders, name) ? decoders[name]?.() : undefined
  if (decoder === undefined) return { push: () => {}, end: () => unread }
  decoder.on('data', (chunk: Uint8Array) => watched.push(chunk))
  const decoded = new Promise<void>((resolve) => {
    decoder.once('end', resolve)
    decoder.once('error', () => resolve())
  })
  return {
    push: (chunk) => void decoder.write(chunk),
    end: async () => {
      decoder.end()
      await decoded
      return watched.end()
    },
  }
}

const guarded = (meter: Meter, fault: Fault): Tap => {
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
      if (failed) return unread
      try {
        return meter.end()
      } catch (error) {
        fault(error)
        return unread
      }
    },
  }
}
