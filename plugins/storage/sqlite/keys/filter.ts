/** For each key. With four places a key, one in four hundred that was never added is taken for one that was. */
const BITS = 16
const PLACES = 4
const LEAST_KEYS = 65_536

/** Room for so many keys and as many more. */
export const filterFor = (keys: number): Uint8Array => new Uint8Array((Math.max(LEAST_KEYS, 2 * keys) * BITS) / 8)

/** Which keys there are, and a few that there are not: a Bloom filter. Its bits can be posted to another thread. */
export class KeyFilter {
  readonly bits: Uint8Array

  constructor(bits: Uint8Array) {
    this.bits = bits
  }

  add(key: string): void {
    const step = stepOf(key)
    for (let place = firstOf(key), n = 0; n < PLACES; n++, place = (place + step) >>> 0) {
      const bit = place % (this.bits.length * 8)
      this.bits[bit >>> 3] = (this.bits[bit >>> 3] ?? 0) | (1 << (bit & 7))
    }
  }

  /** False: it was never added. */
  mayHave(key: string): boolean {
    const step = stepOf(key)
    for (let place = firstOf(key), n = 0; n < PLACES; n++, place = (place + step) >>> 0) {
      const bit = place % (this.bits.length * 8)
      if (((this.bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false
    }
    return true
  }
}

/** FNV-1a over UTF-16 code units. */
const fnv = (key: string, basis: number): number => {
  let hash = basis
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

const firstOf = (key: string): number => fnv(key, 0x811c9dc5)

/** Odd, so that the places differ. */
const stepOf = (key: string): number => fnv(key, 0x5bd1e995) | 1
