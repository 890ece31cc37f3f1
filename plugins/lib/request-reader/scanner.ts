import { GuardError } from 'guard-gateway/core'
import { closingQuote, syntaxErrorAt } from '#lib/json'

const QUOTE = 0x22
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const COMMA = 0x2c

/** The deepest nesting of a model request: deeper values overflow the stack of parsers and writers. */
const DEPTH_LIMIT = 512

const syntaxError = (at: number, what: string): GuardError =>
  new GuardError('INVALID_BODY', `The request body is not JSON: ${what} at byte ${at}.`)

/** The index of the first byte at or after `at` that is not JSON white space. */
export const skipBlanks = (json: Buffer, at: number): number => {
  let index = at
  for (;;) {
    const byte = json[index]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return index
    index++
  }
}

/** The end (exclusive) of the string that starts at `at`. */
const skipString = (json: Buffer, at: number): number => {
  const quote = closingQuote(json, at + 1)
  if (quote >= json.length) throw syntaxError(at, 'a string does not end')
  return quote + 1
}

/**
 * The end (exclusive) of the value that starts at `at`, found by brackets and strings only.
 * Only the parser decides whether the bytes are JSON; for all JSON that it accepts the end is exact.
 */
export const skipValue = (json: Buffer, at: number, depth: number): number => {
  const first = json[at]
  if (first === QUOTE) return skipString(json, at)
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return skipNested(json, at, depth)
  let index = at
  while (index < json.length && !endsScalar(json[index])) index++
  if (index === at) throw syntaxError(at, 'a value is missing')
  return index
}

const endsScalar = (byte: number | undefined): boolean =>
  byte === COMMA ||
  byte === CLOSE_OBJECT ||
  byte === CLOSE_ARRAY ||
  byte === 0x20 ||
  byte === 0x0a ||
  byte === 0x0d ||
  byte === 0x09

const isOpening = (byte: number | undefined): boolean => byte === OPEN_OBJECT || byte === OPEN_ARRAY
const isClosing = (byte: number | undefined): boolean => byte === CLOSE_OBJECT || byte === CLOSE_ARRAY

const skipNested = (json: Buffer, at: number, outer: number): number => {
  let depth = outer
  let index = at
  while (index < json.length) {
    const byte = json[index]
    if (byte === QUOTE) {
      index = skipString(json, index)
      continue
    }
    index++
    if (isOpening(byte) && ++depth > DEPTH_LIMIT)
      throw new GuardError('INVALID_BODY', `The request body nests deeper than ${DEPTH_LIMIT} levels.`)
    if (isClosing(byte) && --depth === outer) return index
  }
  throw syntaxError(at, 'an object or array does not end')
}

/** Receives the members that `scanObject` finds. */
export interface MemberVisitor {
  /** Visits a member whose value starts at `at`. Returns the end of the value. */
  member(name: string, at: number): number
}

/** Scans the members of the one object that `json` must be. Throws INVALID_BODY. */
export const scanObject = (json: Buffer, visitor: MemberVisitor): void => {
  let at = skipBlanks(json, 0)
  if (json[at] !== OPEN_OBJECT) throw new GuardError('INVALID_BODY', 'The request body must be one JSON object.')
  at = skipBlanks(json, at + 1)
  if (json[at] !== CLOSE_OBJECT) at = scanMembers(json, at, visitor)
  if (skipBlanks(json, at + 1) < json.length) throw syntaxError(at + 1, 'something follows the object')
}

const scanMembers = (json: Buffer, start: number, visitor: MemberVisitor): number => {
  let at = start
  for (;;) {
    if (json[at] !== QUOTE) throw syntaxError(at, 'a member name is missing')
    const nameEnd = skipString(json, at)
    const name = parseSlice(json, at, nameEnd)
    const colon = skipBlanks(json, nameEnd)
    if (json[colon] !== 0x3a) throw syntaxError(colon, 'a colon is missing')
    at = skipBlanks(json, visitor.member(String(name), skipBlanks(json, colon + 1)))
    if (json[at] === CLOSE_OBJECT) return at
    if (json[at] !== COMMA) throw syntaxError(at, 'a comma is missing')
    at = skipBlanks(json, at + 1)
  }
}

/**
 * Scans the elements of the array that starts at `at`. `element` gets the start of each value and returns its end.
 * Returns the end of the array.
 */
export const scanArray = (json: Buffer, at: number, element: (at: number) => number): number => {
  let index = skipBlanks(json, at + 1)
  if (json[index] === CLOSE_ARRAY) return index + 1
  for (;;) {
    index = skipBlanks(json, element(index))
    if (json[index] === CLOSE_ARRAY) return index + 1
    if (json[index] !== COMMA) throw syntaxError(index, 'a comma is missing')
    index = skipBlanks(json, index + 1)
  }
}

/** Parses the bytes from `start` to `end`. Throws INVALID_BODY. */
export const parseSlice = (json: Buffer, start: number, end: number): unknown => {
  const text = json.toString('utf8', start, end)
  try {
    return JSON.parse(text) as unknown
  } catch {
    const fault = text.length > MAX_SEARCHED ? undefined : syntaxErrorAt(text)
    if (fault === undefined) throw syntaxError(start, 'a value cannot be parsed')
    throw syntaxError(start + Buffer.byteLength(text.slice(0, fault.at)), `expected ${fault.expected}`)
  }
}

/** The position of a syntax error is searched in at most so many characters: more would delay other requests. */
const MAX_SEARCHED = 1_048_576
