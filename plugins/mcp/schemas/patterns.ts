import type { RE2JS } from 're2js'
import { burn, type Fuel, FuelSpent } from './fuel.ts'

/** The part of RegExp that a validator uses. */
export interface Pattern {
  test(text: string): boolean
  toString(): string
}

const SURROGATES = /\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/g

/** One code point, where JavaScript's notation has it as two halves. */
const joined = (_whole: string, high: string, low: string): string =>
  `\\x{${((Number.parseInt(high, 16) - 0xd800) * 0x400 + (Number.parseInt(low, 16) - 0xdc00) + 0x10000).toString(16)}}`

/** A pattern of JSON Schema as one that runs in linear time. Throws what the engine says of a pattern that it cannot run. */
const linearPattern = (engine: typeof RE2JS, pattern: string): RE2JS =>
  engine.compile(engine.translateRegExp(asLinear(pattern.replace(SURROGATES, joined))))

/** Steps of all patterns of one schema; to compile more would take longer than a call may wait. */
const MAX_SIZE = 50_000

/** Characters that are read in the time of one unit of fuel. */
const PER_UNIT = 10

/** Programs of more steps may take all of them for each character, and not one as others do. */
const MANY_STEPS = 64
/** Steps times characters that one reading may take at worst. */
const MAX_WORK = 13_000_000
/** A fifth of what it takes by rights: the clock also runs for others. */
const UNITS_PER_MS = 400

/** Makes the patterns of one schema. One that cannot be run, or only slowly, matches everything and is noted in `skipped`. */
export const patternMaker = (engine: typeof RE2JS, fuel: Fuel, skipped: string[]): ((pattern: string) => Pattern) => {
  let size = 0
  return (pattern) => {
    // A validator tells patterns apart by their text; without one of its own, all would become the first.
    const own = () => `/${pattern}/`
    try {
      size += patternSize(pattern)
      if (size > MAX_SIZE) throw new RangeError('too large')
      const compiled = linearPattern(engine, pattern)
      const test = compiled.programSize() > MANY_STEPS ? timed(compiled, fuel) : charged(compiled, fuel)
      return { test, toString: own }
    } catch {
      skipped.push(pattern)
      return { test: () => true, toString: own }
    }
  }
}

const charged =
  (pattern: RE2JS, fuel: Fuel) =>
  (text: string): boolean => {
    burn(fuel, 1 + text.length / PER_UNIT)
    return pattern.test(text)
  }

/** What such a program takes is known only afterwards. */
const timed = (pattern: RE2JS, fuel: Fuel) => {
  const steps = pattern.programSize()
  return (text: string): boolean => {
    if (text.length * steps > MAX_WORK) throw new FuelSpent('too long for so many steps')
    const start = performance.now()
    const matches = pattern.test(text)
    burn(fuel, 1 + (performance.now() - start) * UNITS_PER_MS)
    return matches
  }
}

/** A class of Unicode is a long list of ranges. */
const UNICODE_CLASS = 20

const PIECES = /\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\.|\{(\d+)(?:,(\d*))?\}|./gsu

const weightOf = (piece: string): number =>
  piece.length === 1 ? 1 : 1 + UNICODE_CLASS * (piece.match(/\\p/gi)?.length ?? 0)

/** About how many steps the program of a pattern has once its repetitions are written out. Never runs the pattern. */
const patternSize = (pattern: string): number => {
  const open: number[] = []
  let [total, last] = [0, 0]
  for (const [piece, least, most] of pattern.matchAll(PIECES)) {
    if (piece === '(') open.push(total)
    else if (piece === ')') last = total - (open.pop() ?? 0)
    else if (least === undefined) {
      last = weightOf(piece)
      total += last
    } else {
      const times = Math.max(Number(least), Number(most ?? 0), 1)
      total += last * (times - 1)
      last *= times
    }
  }
  return total
}

/** Blanks and ends of lines as JavaScript counts them, between square brackets. */
const BLANK = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'
const NO_BLANK =
  '\\x00-\\x08\\x0e-\\x1f!-\\u009f\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\ufefe\\uff00-\\x{10ffff}'

const OUTSIDE: Readonly<Record<string, string>> = {
  '\\s': `[${BLANK}]`,
  '\\S': `[^${BLANK}]`,
  '.': '[^\\n\\r\\u2028\\u2029]',
}
const INSIDE: Readonly<Record<string, string>> = { '\\s': BLANK, '\\S': NO_BLANK, '\\b': '\\x08' }

/** General categories by the long names that other engines do not know. */
const CATEGORIES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
}

const CLASSES_AND_CHARACTERS = /\[((?:\\.|[^\]\\])*)\]|\\[pP]\{[^}]*\}|\\.|\./gsu
const IN_CLASS = /\\[sS]-?|\\[pP]\{[^}]*\}|\\./gsu

/** A pattern of JavaScript in which blanks, dots and properties of Unicode mean to the linear engine what they mean there. */
const asLinear = (pattern: string): string =>
  pattern.replace(CLASSES_AND_CHARACTERS, (piece, inner?: string) =>
    inner === undefined ? meant(piece, OUTSIDE) : `[${inner.replace(IN_CLASS, ofClass)}]`,
  )

/** After a set a dash starts no range. */
const ofClass = (piece: string): string =>
  /^\\[sS]-$/.test(piece) ? `${meant(piece.slice(0, 2), INSIDE)}\\-` : meant(piece, INSIDE)

const meant = (piece: string, meanings: Readonly<Record<string, string>>): string =>
  Object.hasOwn(meanings, piece) ? (meanings[piece] ?? piece) : piece.replace(/(?<=^\\[pP]\{)[^}]*/, shortProperty)

const shortProperty = (property: string): string => {
  const value = property.replace(/^(?:Script|sc|Script_Extensions|scx|General_Category|gc)=/, '')
  return (Object.hasOwn(CATEGORIES, value) ? CATEGORIES[value] : undefined) ?? value
}
