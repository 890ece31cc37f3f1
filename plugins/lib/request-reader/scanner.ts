import { GuardError } from 'guard-gateway/core'
import { syntaxErrorAt } from 'guard-gateway/lib/json'
import type { Encoding } from './conversation/byte-strings.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const COMMA = 0x2c

/** How deep a model request may nest: deeper values make parsers and writers overflow. */
const DEPTH_LIMIT = 512

const broken = (at: number, what: string): GuardError =>
  new GuardError('INVALID_BODY', `The request body is not JSON: ${what} at byte ${at}.`)

/** The first byte at or after `at` that is no JSON white space. */
export const skipBlanks = (json: Buffer, at: number): number => {
  let index = at
  for (;;) {
    const byte = json[index]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return index
    index++
  }
}

/** The end (exclusive) of the string that begins at `at`. */
const skipString = (json: Buffer, at: number): number => {
  let quote = near(json, at + 1)
  while (quote !== -1) {
    let first = quote
    while (json[first - 1] === BACKSLASH) first--
    if (((quote - first) & 1) === 0) return quote + 1
    quote = json.indexOf(QUOTE, quote + 1)
  }
  throw broken(at, 'a string does not end')
}

/** The next quote: most strings are short, so a few bytes are looked at before the native search is asked. */
const near = (json: Buffer, at: number): number => {
  const limit = at + 16
  for (let index = at; index < limit; index++) if (json[index] === QUOTE) return index
  return json.indexOf(QUOTE, limit)
}

/**
 * The end (exclusive) of the value that begins at `at`, found by brackets and strings alone.
 * Whether the bytes between are JSON is for the parser to say; the boundaries are exact for all that it accepts.
 */
export const skipValue = (json: Buffer, at: number, depth: number): number => {
  const first = json[at]
  if (first === QUOTE) return skipString(json, at)
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return skipNested(json, at, depth)
  let index = at
  while (index < json.length && !endsScalar(json[index])) index++
  if (index === at) throw broken(at, 'a value is missing')
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

const opens = (byte: number | undefined): boolean => byte === OPEN_OBJECT || byte === OPEN_ARRAY
const closes = (byte: number | undefined): boolean => byte === CLOSE_OBJECT || byte === CLOSE_ARRAY

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
    if (opens(byte) && ++depth > DEPTH_LIMIT)
      throw new GuardError('INVALID_BODY', `The request body nests deeper than ${DEPTH_LIMIT} levels.`)
    if (closes(byte) && --depth === outer) return index
  }
  throw broken(at, 'an object or array does not end')
}

/** Whether a parsed value, itself at this depth, nests as deep as a request may and no deeper. */
export const nestsWithin = (value: object, depth: number): boolean => {
  if (depth > DEPTH_LIMIT) return false
  if (Array.isArray(value)) {
    for (const element of value) if (isNested(element) && !nestsWithin(element, depth + 1)) return false
    return true
  }
  const object = value as Readonly<Record<string, unknown>>
  for (const name in object) {
    const member = object[name]
    if (isNested(member) && !nestsWithin(member, depth + 1)) return false
  }
  return true
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

/** A receiver of what `skimObject` finds. */
export interface Skimmer {
  /** A member whose value begins at `at`; gives the end of the value. */
  member(name: string, at: number): number
}

/** Walks the members of the one object that `json` must be. */
export const skimObject = (json: Buffer, skimmer: Skimmer): void => {
  let at = skipBlanks(json, 0)
  if (json[at] !== OPEN_OBJECT) throw new GuardError('INVALID_BODY', 'The request body must be one JSON object.')
  at = skipBlanks(json, at + 1)
  if (json[at] !== CLOSE_OBJECT) at = skimMembers(json, at, skimmer)
  if (skipBlanks(json, at + 1) < json.length) throw broken(at + 1, 'something follows the object')
}

const skimMembers = (json: Buffer, start: number, skimmer: Skimmer): number => {
  let at = start
  for (;;) {
    if (json[at] !== QUOTE) throw broken(at, 'a member name is missing')
    const nameEnd = skipString(json, at)
    const name = parseSlice(json, at, nameEnd)
    const colon = skipBlanks(json, nameEnd)
    if (json[colon] !== 0x3a) throw broken(colon, 'a colon is missing')
    at = skipBlanks(json, skimmer.member(String(name), skipBlanks(json, colon + 1)))
    if (json[at] === CLOSE_OBJECT) return at
    if (json[at] !== COMMA) throw broken(at, 'a comma is missing')
    at = skipBlanks(json, at + 1)
  }
}

/**
 * Walks the elements of the array that begins at `at`; `element` gets the start of each value and gives its end.
 * Gives the end of the array.
 */
export const skimArray = (json: Buffer, at: number, element: (at: number) => number): number => {
  let index = skipBlanks(json, at + 1)
  if (json[index] === CLOSE_ARRAY) return index + 1
  for (;;) {
    index = skipBlanks(json, element(index))
    if (json[index] === CLOSE_ARRAY) return index + 1
    if (json[index] !== COMMA) throw broken(index, 'a comma is missing')
    index = skipBlanks(json, index + 1)
  }
}

/** The parsed value of the bytes from `start` to `end`. */
export const parseSlice = (json: Buffer, start: number, end: number, encoding: Encoding = 'utf8'): unknown => {
  const text = json.toString(encoding, start, end)
  try {
    return JSON.parse(text) as unknown
  } catch {
    // parts are also parsed on trial, which has to fail at no cost
    const fault = start > 0 || text.length > MAX_SEARCHED ? undefined : syntaxErrorAt(text)
    if (fault === undefined) throw broken(start, 'a value cannot be parsed')
    throw broken(Buffer.byteLength(text.slice(0, fault.at), encoding), `expected ${fault.wanted}`)
  }
}

/** The place of a fault is looked for in so many characters: to walk more would hold other requests up. */
const MAX_SEARCHED = 1_048_576
