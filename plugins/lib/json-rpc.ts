import { memberIn, sourceOf } from '#lib/json'
import type { Frame } from './json-rpc/message.ts'

export { errorFrame, readFrame, resultFrame } from './json-rpc/frame.ts'

export { LineWriter } from './json-rpc/line-writer.ts'
export { type LineEnds, LineReader } from './json-rpc/lines.ts'
export { foldName } from './json-rpc/look-alike.ts'
export type { Frame, FrameFault } from './json-rpc/message.ts'

/** The key of the request that a `notifications/cancelled` takes back; undefined for any other frame. */
export const cancelledKey = ({ method, text, params }: Frame): string | undefined => {
  if (method !== 'notifications/cancelled') return undefined
  const id = memberIn(params, 'requestId')?.value
  return id === undefined ? undefined : keyOfId(sourceOf(text, id))
}

/** What an id is kept under: its type, and its value where that is text. `id`: its source text. */
export const keyOfId = (id: string): string => (id.startsWith('"') ? `s${JSON.parse(id) as string}` : `n${id}`)

/**
 * The key among `keys` that an answer belongs to whose id was not repeated digit for digit:
 * many servers keep numbers as doubles, which rounds integers beyond 2^53. Undefined if none or several would do.
 */
export const roundedKey = (keys: Iterable<string>, key: string): string | undefined => {
  if (TEXT.test(key)) return numberOf(keys, key)
  if (!isRounded(key)) return undefined
  const value = Number(key.slice(1))
  let found: string | undefined
  for (const known of keys) {
    if (!known.startsWith('n') || Number(known.slice(1)) !== value) continue
    if (found !== undefined) return undefined
    found = known
  }
  return found
}

/** A text that is an integer: some servers keep every id as text. */
const TEXT = /^s(?:0|-?[1-9][0-9]*)$/

const numberOf = (keys: Iterable<string>, key: string): string | undefined => {
  for (const known of keys) if (known.startsWith('n') && known.slice(1) === key.slice(1)) return known
  return undefined
}

/** The key is that of an integer that a double may not hold. */
const isRounded = (key: string): boolean => key.startsWith('n') && !Number.isSafeInteger(Number(key.slice(1)))
