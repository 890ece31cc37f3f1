import type { Code } from 'guard-gateway/core'
import { GuardError } from 'guard-gateway/core'

/** A place in a text; line and column from 1. */
export interface TextLocation {
  readonly line: number
  readonly column: number
}

/** Digits of an integer that is taken from outside: making one takes the square of their number, a million of them a tenth of a second. */
export const MAX_DIGITS = 1_000
/** Members at the top level of an object that may have each but once: each is examined by itself. */
export const MAX_MEMBERS = 1_000

/** What strict reading refuses, in words that name the place and nothing of the text. */
export const strictFaults = {
  notUtf8: (code: Code): GuardError => new GuardError(code, 'The text is not valid UTF-8. Send JSON as UTF-8.'),

  byteOrderMark: (code: Code): GuardError =>
    new GuardError(code, 'The text begins with a byte order mark. Send it without one.', { line: 1, column: 1 }),

  tooDeep: (code: Code, max_depth: number, place: TextLocation): GuardError =>
    new GuardError(
      code,
      `The text nests deeper than ${max_depth} levels, from line ${place.line}, column ${place.column} on.`,
      place,
    ),

  /** `ends`: the place is after the end of the text. */
  noJson: (code: Code, expected: string, place: TextLocation, ends: boolean): GuardError => {
    const there = ends ? 'the text ends' : 'there is something else'
    return new GuardError(
      code,
      `Line ${place.line}, column ${place.column}: expected ${expected}, but ${there}.`,
      place,
    )
  },

  longInteger: (code: Code, characters: number, place: TextLocation): GuardError => {
    const where = `at line ${place.line}, column ${place.column}`
    const message = `The integer ${where} has ${characters} characters, and at most ${MAX_DIGITS} are taken. Send it as a string.`
    return new GuardError(code, message, place)
  },

  manyMembers: (code: Code, place: TextLocation): GuardError =>
    new GuardError(
      code,
      `The object has more than ${MAX_MEMBERS} members at its top level, from line ${place.line}, column ${place.column} on. Send fewer.`,
      place,
    ),

  duplicate: (code: Code, place: TextLocation): GuardError =>
    new GuardError(
      code,
      `A member appears twice at the top level, again at line ${place.line}, column ${place.column}. Send each once.`,
      place,
    ),
}
