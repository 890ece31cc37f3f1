import { isUtf8 } from 'node:buffer'
import type { Code } from 'guard-gateway/core'
import { stringAt } from './marks.ts'
import { type JsonOutline, outlineOf } from './outline.ts'
import { parseJson, type Reviver } from './parse.ts'
import { MAX_DIGITS, MAX_MEMBERS, strictFaults, type TextLocation } from './strict-faults.ts'
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
  const outline = outlineOf(bytes, max_depth, unique ? MAX_MEMBERS : -1)
  refuseOutline(bytes, outline, max_depth, code)
  const value = parse(bytes.toString(), code)
  refuseDuplicates(bytes, outline, value, code)
  return value
}

/** Throws GuardError for bytes that are not UTF-8, and for a byte order mark. */
export const refuseNoText = (bytes: Buffer, code: Code): void => {
  if (!isUtf8(bytes)) throw strictFaults.notUtf8(code)
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) throw strictFaults.byteOrderMark(code)
}

/** Throws GuardError for a text that nests too deep, and for one with more than 1,000 names at its top level. */
export const refuseOutline = (bytes: Buffer, outline: JsonOutline, max_depth: number, code: Code): void => {
  if (outline.too_deep !== -1) throw strictFaults.tooDeep(code, max_depth, placeAt(bytes, outline.too_deep))
  const surplus = outline.names[MAX_MEMBERS]
  if (surplus !== undefined) throw strictFaults.manyMembers(code, placeAt(bytes, surplus))
}

/** Throws GuardError for a name that appears twice. Of such the value has one, so names are read only where that is so. */
export const refuseDuplicates = (bytes: Buffer, { names }: JsonOutline, value: unknown, code: Code): void => {
  if (names.length === 0 || names.length <= Object.keys(value as object).length) return
  const seen = new Set<string>()
  for (const at of names) {
    const name = stringAt(bytes, at)
    if (seen.has(name)) throw strictFaults.duplicate(code, placeAt(bytes, at))
    seen.add(name)
  }
}

/** Line and column of a byte of the text. */
const placeAt = (bytes: Buffer, at: number): TextLocation => {
  const before = bytes.toString('utf8', 0, at)
  return lineAndColumn(before, before.length)
}

const parse = (text: string, code: Code): unknown => {
  try {
    return parseBounded(text)
  } catch (error) {
    if (error instanceof LongInteger)
      throw strictFaults.longInteger(code, error.message.length, lineAndColumn(text, text.indexOf(error.message)))
    if (!(error instanceof SyntaxError)) throw error
    const { at, expected } = syntaxErrorAt(text) ?? { at: 0, expected: 'JSON' }
    throw strictFaults.noJson(code, expected, lineAndColumn(text, at), at >= text.length)
  }
}

/** A number of 16 digits or more where a value may be: only such text can hold an integer that a double cannot. */
const LONG_NUMBER = /(?:^|[:,[\s])-?\d{16}/

const exact: Reviver = (_key, value, { source }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? BigInt(source)
    : value

/** An integer of more digits than are taken, as it is written. */
export class LongInteger extends Error {}

const bounded: Reviver = (key, value, context) => {
  const { source = '' } = context
  if (typeof value === 'number' && source.length > MAX_DIGITS && /^-?\d+$/.test(source)) throw new LongInteger(source)
  return exact(key, value, context)
}

/** Parses JSON; an integer beyond 2^53 becomes a bigint with every digit. Throws SyntaxError. */
const parseExact = (text: string): unknown => parseJson(text, LONG_NUMBER.test(text) ? exact : undefined)

/** The same for text from outside. Throws SyntaxError, and LongInteger for an integer of more than 1,000 digits. */
export const parseBounded = (text: string): unknown => parseJson(text, LONG_NUMBER.test(text) ? bounded : undefined)
