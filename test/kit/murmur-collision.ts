const U64 = (1n << 64n) - 1n
const rotated = (value: bigint, by: bigint): bigint => ((value << by) | (value >> (64n - by))) & U64
const times = (one: bigint, other: bigint): bigint => (one * other) & U64
const [C1, C2] = [0x87c37b91114253d5n, 0x4cf5ad432745937fn]

const mixed = (given: bigint): bigint => {
  let h = given
  for (const factor of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n]) h = times(h ^ (h >> 33n), factor)
  return h ^ (h >> 33n)
}

/** MurmurHash3 for x64, 128 bits: its two halves, written down from its description. */
export const murmur = (bytes: Uint8Array, seed = 0n): readonly [bigint, bigint] => {
  let [h1, h2] = [seed, seed]
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

/**
 * Two blocks of UTF-8 that Murmur takes for the same, whatever its seed and whatever stands around them (Aumasson and Bernstein, 2012):
 * the first blocks differ in what becomes the highest bit of one half, and the second ones cancel that.
 */
const blocks = [
  '3d2966746e21336a7921667435583d4546d8be4ee6a392343132333435363738',
  'dd886852caaddda13a2edda1723fdf8d46d8be4e6956c4b13132333435363738',
].map((hex) => Buffer.from(hex, 'hex').toString())

/** Four different texts of this beginning and end that Murmur takes for one. The beginning has a multiple of 16 bytes. */
export const collidingTexts = (beginning: string, end: string): readonly string[] =>
  blocks.flatMap((first) => blocks.map((second) => beginning + first + second + end))
