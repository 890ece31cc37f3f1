const QUOTE = 0x22
const BACKSLASH = 0x5c
const LOWER_U = 0x75

/** Bytes of one JSON string that are read: nothing longer is metadata, and a preview is shorter. */
const MAX_TEXT = 4_096
/** A body up to this many bytes is read as it is. */
const SMALL = 1_048_576

/**
 * JSON bytes with long strings cut, so that a large body costs little more than what is kept of it.
 * A body that is no JSON stays none.
 */
export const withoutLongTexts = (bytes: Buffer): Buffer => {
  if (bytes.length <= SMALL) return bytes
  const pieces: Buffer[] = []
  let from = 0
  let open = bytes.indexOf(QUOTE)
  while (open !== -1) {
    const close = endOf(bytes, open + 1)
    if (close === -1) break
    if (close - open - 1 > MAX_TEXT) {
      pieces.push(bytes.subarray(from, cutAt(bytes, open + 1)))
      from = close
    }
    open = bytes.indexOf(QUOTE, close + 1)
  }
  return from === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(from)])
}

/** Where the quote stands that ends the string which begins at `from`; -1 if none does. */
const endOf = (bytes: Buffer, from: number): number => {
  for (let at = bytes.indexOf(QUOTE, from); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0
    while (at - escapes > from && bytes[at - escapes - 1] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return -1
}

/** The last place within the limit that parts neither an escape nor a character. */
const cutAt = (bytes: Buffer, from: number): number => {
  const limit = from + MAX_TEXT
  let at = from
  while (at < limit) {
    const length = bytes[at] !== BACKSLASH ? 1 : bytes[at + 1] === LOWER_U ? 6 : 2
    if (at + length > limit) return at
    at += length
  }
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at--
  return at
}
