/** Inclusive ranges of UTF-16 units that show nothing, so that they can hide a secret from a matcher: controls, default-ignorables, U+FFFD. */
const IGNORABLE: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x0c],
  [0x0e, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfff8],
  [0xfffd, 0xfffd],
  [0xdb40, 0xdb43],
]

const TABLE = new Uint8Array(65_536)
for (const [first, last] of IGNORABLE) TABLE.fill(1, first, last + 1)

/** A character a reader does not see; of those beyond U+FFFF the first unit. */
export const isIgnorable = (unit: number): boolean => TABLE[unit] === 1
