import assert from 'node:assert/strict'
import { createCipheriv } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { shortSha256 } from '../../../core/ids.ts'
import { textHash } from '../../../core/long-text/digest.ts'
import { loadedPrograms, places } from '../../../core/long-text/memory.ts'

const U64 = (1n << 64n) - 1n
const rotated = (value: bigint, by: bigint): bigint => ((value << by) | (value >> (64n - by))) & U64
const times = (one: bigint, other: bigint): bigint => (one * other) & U64
const [C1, C2] = [0x87c37b91114253d5n, 0x4cf5ad432745937fn]

const mixed = (given: bigint): bigint => {
  let h = given
  for (const factor of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n]) h = times(h ^ (h >> 33n), factor)
  return h ^ (h >> 33n)
}

/** MurmurHash3 for x64, 128 bits, seed 0: its two halves, written down from its description. */
const murmur = (bytes: Uint8Array): readonly [bigint, bigint] => {
  let [h1, h2] = [0n, 0n]
  const padded = Buffer.concat([bytes, Buffer.alloc(16)])
  for (let at = 0; at <= bytes.length; at += 16) {
    h1 ^= times(rotated(times(padded.readBigUInt64LE(at), C1), 31n), C2)
    if (at + 16 <= bytes.length) h1 = (times((rotated(h1, 27n) + h2) & U64, 5n) + 0x52dce729n) & U64
    h2 ^= times(rotated(times(padded.readBigUInt64LE(at + 8), C2), 33n), C1)
    if (at + 16 <= bytes.length) h2 = (times((rotated(h2, 31n) + h1) & U64, 5n) + 0x38495ab5n) & U64
  }
  h1 ^= BigInt(bytes.length)
  h2 ^= BigInt(bytes.length)
  h1 = (h1 + h2) & U64
  h2 = mixed((h2 + h1) & U64)
  h1 = (mixed(h1) + h2) & U64
  return [h1, (h2 + h1) & U64]
}

/** The first sixteen bytes of the ChaCha20 stream of a key that is this, twice. */
const sealed = ([h1, h2]: readonly [bigint, bigint]): string => {
  const key = Buffer.alloc(32)
  for (const at of [0, 16]) {
    key.writeBigUInt64LE(h1, at)
    key.writeBigUInt64LE(h2, at + 8)
  }
  return createCipheriv('chacha20', key, Buffer.alloc(16)).update(Buffer.alloc(16)).toString('hex')
}

/** What the program says of bytes, which stand among others. */
const digest = (bytes: Uint8Array): string => {
  const programs = loadedPrograms()
  assert.ok(programs !== null)
  programs.bytes.fill(0xff, places.given, places.given + bytes.length + 64)
  programs.bytes.set(bytes, places.given)
  programs.digest(places.given, bytes.length, places.digest)
  return programs.bytes.toString('latin1', places.digest, places.digest + 32)
}

describe('the digest of a text', () => {
  it('is MurmurHash3, sealed by ChaCha20', () => {
    const fox = Buffer.from('The quick brown fox jumps over the lazy dog')
    const published = [0xe34bbc7bbc071b6cn, 0x7a433ca9c49a9347n] as const
    assert.deepEqual(murmur(fox), published)
    assert.equal(digest(fox), sealed(published))
    for (let length = 0; length < 300; length++) {
      const bytes = Buffer.from(Array.from({ length }, (_, index) => index * 37))
      assert.equal(digest(bytes), sealed(murmur(bytes)), `${length} bytes`)
    }
  })

  it('is that of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => digest(bytes) === sealed(murmur(bytes))),
      { numRuns: 200 },
    )
  })

  it('is what texts from 128 bytes to 1 MiB are known by, and SHA-256 what others are', () => {
    const text = Buffer.alloc(1024 * 1024 + 1, 'some text ')
    for (const length of [0, 1, 127, 1024 * 1024 + 1])
      assert.equal(textHash(text, length), shortSha256(text.subarray(0, length)))
    for (const length of [128, 129, 1024 * 1024]) assert.equal(textHash(text, length), digest(text.subarray(0, length)))
  })
})
