import type { TurnContent } from 'guard-gateway/core'
import type { RecentHashes } from './recent-hashes.ts'

/** A result's text after these characters is not examined. */
const RESULT_CHARS = 40_000

/** Numbers that differ from run to run: durations, clock times, addresses, ids, line numbers. */
const volatile =
  /\d+(?:\.\d+)?\s?(?:[nµu]?s|ms|secs?|seconds?|m|mins?|minutes?|h|hours?)\b|0x[0-9a-f]+|\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?|\d{4,}|(?<=\bline )\d+/gi

/** A text with the same sign in place of numbers that differ from run to run. */
export const withoutVolatile = (text: string): string => text.replace(volatile, '#')

/** How many lines of a result say something, and how many of those were not known. */
export interface LineCount {
  readonly lines: number
  readonly fresh: number
}

/** Several rules examine the lines of one turn. */
const known = new WeakMap<TurnContent, readonly (readonly number[])[]>()

/** The lines of each result of a turn that say something, as hashes; they are found once for all who ask. */
export const linesOf = (content: TurnContent): readonly (readonly number[])[] => {
  const found = known.get(content) ?? content.results.map(lineHashes)
  known.set(content, found)
  return found
}

/** Remembers the lines of a result, and counts those that were not known. */
export const countLines = (remembered: RecentHashes, lines: readonly number[]): LineCount => {
  let fresh = 0
  for (const hash of lines) if (remembered.add(hash)) fresh++
  return { lines: lines.length, fresh }
}

const lineHashes = (result: string): readonly number[] => {
  const text = withoutVolatile(result.slice(0, RESULT_CHARS))
  const hashes: number[] = []
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && !endsLine(text, at)) continue
    const hash = lineHash(text, start, at)
    start = at + 1
    if (hash !== 0) hashes.push(hash)
  }
  return hashes
}

const LF = 10
const COMMA = 44
const BRACE = 125
const HASH = 35

/** A line feed, or white space after a comma or a closing brace: one long line of JSON is many. */
const endsLine = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  if (unit === LF) return true
  if (unit !== 32 && unit !== 9 && unit !== 13) return false
  const before = text.charCodeAt(at - 1)
  return before === COMMA || before === BRACE
}

/** FNV-1a of what is between, white space at the ends left out; 0 if there is no word and no number. */
const lineHash = (text: string, start: number, end: number): number => {
  let from = start
  let to = end
  while (from < to && text.charCodeAt(from) <= 32) from++
  while (to > from && text.charCodeAt(to - 1) <= 32) to--
  if (from === to) return 0
  let hash = 0x811c9dc5
  let says = false
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at)
    says ||= !isPunctuation(unit)
    hash = Math.imul(hash ^ unit, 0x01000193)
  }
  return says ? hash >>> 0 || 1 : 0
}

/** Neither letter nor digit, as far as ASCII goes: what an empty list, a brace or a ruler is made of. What stands for a number says something. */
const isPunctuation = (unit: number): boolean =>
  (unit < 48 && unit !== HASH) || (unit > 57 && unit < 65) || (unit > 90 && unit < 97) || (unit > 122 && unit < 127)
