import type { RE2JS } from 're2js'
import { burn, type Fuel } from './fuel.ts'

/** As much of a RegExp as a validator asks of one. */
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
  engine.compile(engine.translateRegExp(pattern.replace(SURROGATES, joined)))

/** Makes the patterns of one schema. One that cannot be run matches everything and is noted in `skipped`. */
export const patternMaker =
  (engine: typeof RE2JS, fuel: Fuel, skipped: string[]) =>
  (pattern: string): Pattern => {
    // A validator tells patterns apart by their text; without one of its own, all would become the first.
    const own = () => `/${pattern}/`
    try {
      const compiled = linearPattern(engine, pattern)
      return {
        test: (text) => {
          burn(fuel, text.length)
          return compiled.test(text)
        },
        toString: own,
      }
    } catch {
      skipped.push(pattern)
      return { test: () => true, toString: own }
    }
  }
