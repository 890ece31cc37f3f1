import { isUtf8 } from 'node:buffer'
import type { Code } from 'guard-gateway/core'
import { LongInteger, parseBounded, parseExact } from './bounded.ts'
import { MAX_MEMBERS, strictFaults, type TextPlace } from './strict-faults.ts'
import { lineAndColumn, syntaxErrorAt } from './syntax.ts'

declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as the given JSON text. */
    rawJSON(text: string): unknown
  }
}

/** Parses JSON; an integer beyond 2^53 becomes a bigint with every digit. Throws SyntaxError; check the depth of outside text first. */
export const readJson = (text: string): unknown => parseExact(text)

/** Writes JSON, bigints as integers; what has no JSON form (undefined, a function) is `null`. */
export const writeJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part)) ??
  'null'

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Offset of the quote that ends the string opened at `open`; the length if nothing ends it. */
const stringEnd = (bytes: Uint8Array, open: number): number => {
  let end = bytes.indexOf(QUOTE, open + 1)
  while (end !== -1) {
    let before = end - 1
    while (bytes[before] === BACKSLASH) before--
    if ((end - before) % 2 === 1) return end
    end = bytes.indexOf(QUOTE, end + 1)
  }
  return bytes.length
}

/** How a byte changes the depth: 1 opens, 2 closes, 3 begins a string. */
const STEPS = new Uint8Array(256)
for (const open of '[{') STEPS[open.charCodeAt(0)] = 1
for (const close of ']}') STEPS[close.charCodeAt(0)] = 2
STEPS[QUOTE] = 3
const DEPTH_CHANGES = [0, 1, -1, 0]

/** Offset of the bracket that goes deeper than `limit`, -1 if none does; brackets inside strings do not count. Needs no valid JSON. */
export const tooDeepAt = (bytes: Uint8Array, limit: number): number => {
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const step = STEPS[bytes[at] ?? 0]
    if (step === 0) continue
    if (step === 3) at = stringEnd(bytes, at)
    else if (step === 2) depth--
    else if (++depth > limit) return at
  }
  return -1
}

export interface StrictJson {
  /** Deepest nesting of arrays and objects. */
  readonly max_depth: number
  /** What a refused text raises; INVALID_JSON if absent. */
  readonly code?: Code
  /** Refuse an object that has a member twice at its top level. */
  readonly unique?: boolean
}

/**
 * Parses bytes from outside as JSON: valid UTF-8, no byte order mark, bounded depth, integers of up to 1,000 digits, exact as in `readJson`.
 * Throws GuardError naming line and column, and nothing of the text.
 */
export const readJsonStrict = (
  bytes: Buffer,
  { max_depth, code = 'INVALID_JSON', unique = false }: StrictJson,
): unknown => {
  refuseNoText(bytes, code)
  const deep = tooDeepAt(bytes, max_depth)
  const text = bytes.toString()
  if (deep !== -1) throw strictFaults.tooDeep(code, max_depth, placeAt(bytes, text, deep))
  const names = unique ? namesWithin(bytes, text, code) : 0
  const value = parse(text, code)
  // Of what stands twice the value has it once; names are read only where that is so.
  if (names > 0 && names > Object.keys(value as object).length) refuseDoubled(bytes, text, code)
  return value
}

/** Throws GuardError for bytes that are not UTF-8, and for a byte order mark. */
export const refuseNoText = (bytes: Buffer, code: Code): void => {
  if (!isUtf8(bytes)) throw strictFaults.notUtf8(code)
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) throw strictFaults.byteOrderMark(code)
}

/** Line and column of a byte of the text. */
const placeAt = (bytes: Buffer, text: string, at: number): TextPlace =>
  lineAndColumn(text, bytes.toString('utf8', 0, at).length)

const parse = (text: string, code: Code): unknown => {
  try {
    return parseBounded(text)
  } catch (error) {
    if (error instanceof LongInteger)
      throw strictFaults.longInteger(code, error.message.length, lineAndColumn(text, text.indexOf(error.message)))
    if (!(error instanceof SyntaxError)) throw error
    const { at, wanted } = syntaxErrorAt(text) ?? { at: 0, wanted: 'JSON' }
    throw strictFaults.noJson(code, wanted, lineAndColumn(text, at), at >= text.length)
  }
}

/** The offsets of the names at the top level of an object; of other text, anything. */
function* topLevelNames(bytes: Buffer): Generator<number> {
  let depth = 0
  let before = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte <= 0x20) continue
    const step = STEPS[byte]
    if (depth === 1 && step === 3 && (before === 0x7b || before === 0x2c)) yield at
    if (step === 3) at = stringEnd(bytes, at)
    depth += DEPTH_CHANGES[step ?? 0] ?? 0
    before = byte
  }
}

const nameAt = (bytes: Buffer, open: number): unknown =>
  JSON.parse(bytes.toString('utf8', open, stringEnd(bytes, open) + 1))

/** How many names an object has at its top level, doubled ones counted twice; 0 for other values. Text that is no JSON may be refused as well. */
const namesWithin = (bytes: Buffer, text: string, code: Code): number => {
  if (text.trimStart()[0] !== '{') return 0
  let names = 0
  for (const at of topLevelNames(bytes)) {
    if (++names <= MAX_MEMBERS) continue
    throw strictFaults.manyMembers(code, placeAt(bytes, text, at))
  }
  return names
}

const refuseDoubled = (bytes: Buffer, text: string, code: Code): void => {
  const seen = new Set<unknown>()
  for (const at of topLevelNames(bytes)) {
    const name = nameAt(bytes, at)
    if (seen.has(name)) throw strictFaults.doubled(code, placeAt(bytes, text, at))
    seen.add(name)
  }
}
