import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { isPlain } from 'guard-gateway/core'
import { checkEncoding, inflated, withInflated } from 'guard-gateway/lib/http'

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
  it('are inflated two at once: the next waits until one was made use of, well or badly', async () => {
    const bytes = gzipSync(text)
    const begun: number[] = []
    const ends: ((fails: boolean) => void)[] = []
    const used = Array.from({ length: 6 }, (_, index) =>
      withInflated(bytes, 'gzip', text.length, async (plain) => {
        assert.ok(plain.equals(text))
        begun.push(index)
        const fails = await new Promise<boolean>((resolve) => ends.push(resolve))
        if (fails) throw new RangeError('made badly')
        return index
      }).catch(String),
    )
    const small = inflated(bytes, 'gzip', 10).catch((error) => error.code)
    while (begun.length < 2) await setImmediate()
    for (let more = 0; more < 20; more++) await setImmediate()
    assert.equal(begun.length, 2)
    for (let done = 0; done < 6; done++) {
      ends[done]?.(done === 0)
      while (begun.length < Math.min(6, done + 3)) await setImmediate()
    }
    const wanted = begun.map((index) => (index === begun[0] ? 'RangeError: made badly' : index))
    const given = await Promise.all(used)
    assert.deepEqual(
      begun.map((index) => given[index]),
      wanted,
    )
    assert.equal(await small, 'BODY_TOO_LARGE')
  })
})
