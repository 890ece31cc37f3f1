/** Bits for each key. With four hashes a key, one of four hundred absent keys is reported as present. */
const BITS_PER_KEY = 16
const HASHES = 4
const MIN_KEYS = 65_536

/** The empty bits of a filter for twice as many keys. */
export const filterBits = (keys: number): Uint8Array =>
  new Uint8Array((Math.max(MIN_KEYS, 2 * keys) * BITS_PER_KEY) / 8)

/** A Bloom filter: says for sure that a key is absent, and with some doubt that it is present. Its bits can be posted to another thread. */
export class BloomFilter {
  readonly bits: Uint8Array

  constructor(bits: Uint8Array) {
    this.bits = bits
  }

  add(key: string): void {
    const step = stepOf(key)
    for (let hash = firstOf(key), n = 0; n < HASHES; n++, hash = (hash + step) >>> 0) {
      const bit = hash % (this.bits.length * 8)
      this.bits[bit >>> 3] = (this.bits[bit >>> 3] ?? 0) | (1 << (bit & 7))
    }
  }

  /** False: the key was never added. */
  mayHave(key: string): boolean {
    const step = stepOf(key)
    for (let hash = firstOf(key), n = 0; n < HASHES; n++, hash = (hash + step) >>> 0) {
      const bit = hash % (this.bits.length * 8)
      if (((this.bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false
    }
    return true
  }
}

/** FNV-1a over UTF-16 code units. */
const fnv = (key: string, basis: number): number => {
  let value = basis
  for (let at = 0; at < key.length; at++) value = Math.imul(value ^ key.charCodeAt(at), 0x01000193)
  return value >>> 0
}

const firstOf = (key: string): number => fnv(key, 0x811c9dc5)

/** Odd, so that the bits differ. */
const stepOf = (key: string): number => fnv(key, 0x5bd1e995) | 1
