import { isAlnum, isBlank, isDigit, nameStart, PARTS, runStart, skipBlanks } from './alphabet.ts'
import { assigned, MAX_NAME, type Name, openPair, pair, pairedLevel, separatorAfter } from './assignments.ts'
import { callLogin, group, isGroup, valueBefore } from './calls.ts'
import { columns } from './columns.ts'
import { type Hit, marksAt } from './hit.ts'
import { literalAfter } from './literals.ts'
import { type Level, Levels } from './names.ts'
import { isResource } from './placeholders.ts'
import { optionValue } from './program-options.ts'
import { bareAfter } from './prose.ts'
import type { Scan } from './scan.ts'

/** Steps of judging a name, and of reading what stands around it. */
const NAME = 60
const STEPS = 260

/** The name goes on, or nothing can follow it. */
const GOES_ON = new Set('_>')

/** A name ends at `end`, and its value follows it within a few tokens, whatever stands between. */
export const telling = (scan: Scan, wordStart: number, end: number): Hit | undefined => {
  const { text } = scan
  const start = Math.min(wordStart, nameStart(text, end, MAX_NAME))
  if (GOES_ON.has(text.charAt(end)) && !/^__(?![A-Za-z0-9])/.test(text.slice(end, end + 3))) return undefined
  scan.spend(NAME)
  const name = nameAt(scan, start, end)
  if (name === undefined) return undefined
  if (text[end] === ';') return name.level < Levels.certain ? undefined : valueBefore(scan, start, end)
  if (isGroup(text, name.text, end)) group(scan, end)
  const separator = separatorAfter(text, end)
  if (separator === undefined && name.level === Levels.none) return openPair(scan, name, skipBlanks(text, end))
  const hit = separator === undefined ? optionValue(scan, name) : assigned(scan, name, separator)
  if (hit === undefined && name.level !== Levels.none && name.level !== Levels.line) around(scan, name)
  return hit
}

/** What is found around a name without a sign that assigns is added to the hits. */
const around = (scan: Scan, name: Name): void => {
  const { text } = scan
  const { start, end, level } = name
  scan.spend(STEPS)
  if (/^["']? ?\{/.test(text.slice(end, end + 3))) pair(scan, level, end)
  if (level >= Levels.likely && '(=:.'.includes(text.charAt(end) || '-')) callLogin(scan, end)
  columns(scan, start, end)
  valueBefore(scan, start, end)
  const hit = text[end] === ')' ? undefined : valueAfter(scan, name)
  if (hit !== undefined) scan.hits.push(hit)
}

/** The name from `start` to `end` with its level; `key` has that of the words before it, as in `API key`. */
const nameAt = (scan: Scan, from: number, end: number): Name | undefined => {
  const { text, rules } = scan
  let start = from
  // no name begins with a digit; times and sizes do
  if (isDigit(text.charCodeAt(start)) || marksAt(text, start - 10) || isResource(text, start)) return undefined
  let level: Level = rules.levelOf(text.slice(start, end))
  if (
    level === Levels.none &&
    isBlank(text.charCodeAt(start - 1)) &&
    /^(?:key|phrase|string|secreta|acceso)$/i.test(text.slice(start, end))
  ) {
    start = runStart(text, start - 1, PARTS, MAX_NAME)
    level = rules.levelOf(text.slice(start, end))
  }
  if (level === Levels.none) level = pairedLevel(scan, text.slice(start, end), start)
  return { text: text.slice(start, end), start, end, level }
}

const valueAfter = (scan: Scan, name: Name): Hit | undefined => {
  const { text } = scan
  const { level, end } = name
  const next = text.charAt(end)
  if (next === '.' && isAlnum(text.charCodeAt(end + 1))) return undefined
  if (next === '=' && text[end + 1] !== '>' && level >= Levels.certain) return undefined
  return literalAfter(scan, name) ?? bareAfter(text, name)
}
