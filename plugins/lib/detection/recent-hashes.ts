const FIRST_SLOTS = 64
/** Half of the slots are used at most, so that a search ends soon. */
const MOST_SLOTS = 8192

/**
 * Remembers the last 4,096 to 8,192 different 32-bit hashes in at most 64 KiB, the oldest out first.
 * Its state is plain typed arrays, so that whoever keeps it can tell its size.
 */
export class RecentHashes {
  young: Uint32Array = new Uint32Array(FIRST_SLOTS)
  old: Uint32Array = new Uint32Array(0)
  count = 0

  /** Remembers a hash; true if it was not known. */
  add(hash: number): boolean {
    const value = hash >>> 0 || 1
    const slot = slotOf(this.young, value)
    if (this.young[slot] === value) return false
    const known = this.old.length > 0 && this.old[slotOf(this.old, value)] === value
    this.young[slot] = value
    this.count++
    if (this.count * 2 >= this.young.length) this.#makeRoom()
    return !known
  }

  #makeRoom(): void {
    if (this.young.length >= MOST_SLOTS) {
      this.old = this.young
      this.young = new Uint32Array(MOST_SLOTS)
      this.count = 0
      return
    }
    const wider = new Uint32Array(this.young.length * 2)
    for (const value of this.young) if (value !== 0) wider[slotOf(wider, value)] = value
    this.young = wider
  }
}

/** Where a value is, or would be; `slots` is a power of two long and never full. */
const slotOf = (slots: Uint32Array, value: number): number => {
  const mask = slots.length - 1
  let slot = (Math.imul(value, 0x9e3779b1) >>> 8) & mask
  while (slots[slot] !== 0 && slots[slot] !== value) slot = (slot + 1) & mask
  return slot
}
