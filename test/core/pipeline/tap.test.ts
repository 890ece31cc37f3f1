import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as zlib from 'node:zlib'
import type { Meter } from 'guard-gateway/core'
import { createTap, noReading, unreadable } from '../../../core/pipeline/tap.ts'

const reply = Buffer.from('data: {"content":"Grüße"}\n\n'.repeat(200))

/** A meter that notes what it is shown. */
const noting = () => {
  const chunks: Uint8Array[] = []
  const meter: Meter = { push: (chunk) => void chunks.push(Buffer.from(chunk)), end: () => noReading }
  return { meter, shown: () => Buffer.concat(chunks) }
}

const shownOf = async (encoding: string | undefined, bytes: Buffer, size: number) => {
  const { meter, shown } = noting()
  const tap = createTap(meter, encoding, () => assert.fail())
  tap.push(Buffer.alloc(0))
  for (let at = 0; at < bytes.length; at += size) tap.push(bytes.subarray(at, at + size))
  return { reading: await tap.end(), shown: shown() }
}

describe('a tap shows its meter', () => {
  const plain = (bytes: Buffer) => bytes
  for (const [name, encoding, encode] of [
    ['plain bytes', undefined, plain],
    ['identity', 'Identity', plain],
    ['gzip', 'gzip', zlib.gzipSync],
    ['x-gzip', 'X-GZIP', zlib.gzipSync],
    ['deflate', 'deflate', zlib.deflateSync],
    ['deflate without the zlib form', 'deflate', zlib.deflateRawSync],
    ['br', 'br', zlib.brotliCompressSync],
    ['zstd', 'zstd', zlib.zstdCompressSync],
  ] as const)
    it(`${name}, in pieces of any size`, async () => {
      const bytes = encode(reply)
      for (const size of [1, 7, bytes.length]) assert.ok((await shownOf(encoding, bytes, size)).shown.equals(reply))
    })

  it('as much as there is of what breaks off', async () => {
    const { shown, reading } = await shownOf('gzip', zlib.gzipSync(reply).subarray(0, -20), 16)
    assert.ok(shown.length > 0 && reply.subarray(0, shown.length).equals(shown))
    assert.equal(reading, noReading)
  })

  it('nothing of an empty reply, nor of a coding that nobody knows', async () => {
    assert.deepEqual(await shownOf('gzip', Buffer.alloc(0), 1), { reading: noReading, shown: Buffer.alloc(0) })
    assert.deepEqual(await shownOf('compress', reply, 9), { reading: unreadable, shown: Buffer.alloc(0) })
  })
})
