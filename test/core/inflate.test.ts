import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { checkEncoding, inflated, isPlain } from 'guard-gateway/core'

const text = Buffer.from('{"model":"m"}'.repeat(100))

describe('content encodings of requests', () => {
  it('are read, within a limit', async () => {
    for (const [name, bytes] of [
      ['gzip', gzipSync(text)],
      ['Deflate', deflateSync(text)],
      ['br', brotliCompressSync(text)],
      ['zstd', zstdCompressSync(text)],
      ['identity', text],
      [undefined, text],
    ] as const) {
      assert.ok((await inflated(bytes, name, text.length)).equals(text), name)
      if (!isPlain(name)) await assert.rejects(inflated(bytes, name, text.length - 1), { code: 'BODY_TOO_LARGE' })
    }
  })
  it('that are broken or unknown are refused', async () => {
    await assert.rejects(inflated(text, 'gzip', 10_000), { code: 'INVALID_BODY' })
    await assert.rejects(inflated(gzipSync(text).subarray(0, 20), 'gzip', 10_000), { code: 'INVALID_BODY' })
    await assert.rejects(inflated(text, 'lzma', 10_000), { code: 'UNSUPPORTED_ENCODING' })
    assert.throws(() => checkEncoding('gzip, gzip'), { code: 'UNSUPPORTED_ENCODING' })
    assert.doesNotThrow(() => checkEncoding('BR'))
  })
})
