import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { isPlain } from 'guard-gateway/core'
import { checkEncoding, inflated, withInflated } from '#lib/http'

const text = Buffer.from('{"model":"m"}'.repeat(100))

describe('content encodings of requests', () => {
  it('are read, within a limit', async () => {
    for (const [name, bytes] of [
      ['gzip', gzipSync(text)],
      ['Deflate', deflateSync(text)],
      ['deflate', deflateRawSync(text)],
      ['deflate', deflateRawSync(text, { level: 0 })],
      ['gzip', Buffer.concat([gzipSync(text.subarray(0, 9)), gzipSync(text.subarray(9))])],
      ['br', brotliCompressSync(text)],
      ['zstd', zstdCompressSync(text)],
      ['identity', text],
      [undefined, text],
    ] as const) {
      assert.ok((await inflated(bytes, name, text.length)).equals(text), name)
      if (!isPlain(name)) await assert.rejects(inflated(bytes, name, text.length - 1), { code: 'BODY_TOO_LARGE' })
    }
  })
  it('of several zstd frames are read as one body, whatever their headers, with skippable frames among them', async () => {
    const skippable = Buffer.from([0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 0x28, 0xb5, 0x2f])
    const empty = zstdCompressSync(Buffer.alloc(0))
    const forms = [
      {},
      { params: { [constants.ZSTD_c_checksumFlag]: 1 } },
      { params: { [constants.ZSTD_c_contentSizeFlag]: 0 } },
      { params: { [constants.ZSTD_c_windowLog]: 10, [constants.ZSTD_c_checksumFlag]: 1 } },
    ]
    const large = Buffer.concat([text, Buffer.alloc(300_000, 0x20), Buffer.from(text).reverse()])
    for (const form of forms) {
      const pieces = [large.subarray(0, 7), large.subarray(7, 200_000), large.subarray(200_000)]
      const frames = pieces.map((piece) => zstdCompressSync(piece, form))
      const [first = empty, ...rest] = frames
      const bytes = Buffer.concat([skippable, first, empty, skippable, ...rest, skippable])
      assert.ok((await inflated(bytes, 'zstd', large.length)).equals(large), JSON.stringify(form))
      await assert.rejects(inflated(bytes, 'zstd', large.length - 1), { code: 'BODY_TOO_LARGE' })
      for (const cut of [1, 4, 12]) {
        const broken = bytes.subarray(0, bytes.length - cut)
        await assert.rejects(inflated(broken, 'zstd', large.length), { code: 'INVALID_BODY' }, `${cut} bytes less`)
      }
      const trailed = Buffer.concat([bytes, Buffer.from('{}  ')])
      await assert.rejects(inflated(trailed, 'zstd', large.length), { code: 'INVALID_BODY' })
    }
  })
  it('of very many zstd frames are refused, as each costs a call', async () => {
    const empty = zstdCompressSync(Buffer.alloc(0))
    const many = Buffer.concat(Array.from({ length: 5_000 }, () => empty))
    await assert.rejects(inflated(many, 'zstd', 10_000), { code: 'INVALID_BODY' })
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
