const PIECE_LENGTH = 32_768

/** The same text in pieces of about 32 Ki characters: few enough to send cheaply, small enough to hold. */
export function* gathered(parts: Iterable<string>): Generator<string> {
  let piece = ''
  for (const part of parts) {
    piece += part
    if (piece.length < PIECE_LENGTH) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** The parts with commas between them, as the elements of a JSON array. */
export function* listed(parts: Iterable<string>): Generator<string> {
  let separator = ''
  for (const part of parts) {
    yield separator + part
    separator = ','
  }
}

/** A JSON object in parts: the members of `head` (an object's JSON text), then a list member written element by element. */
export function* withList(head: string, name: string, elements: Iterable<string>): Generator<string> {
  yield `${head.slice(0, -1)}${head === '{}' ? '' : ','}"${name}":[`
  yield* listed(elements)
  yield ']}'
}
