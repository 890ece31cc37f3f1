import { isDigit } from './alphabet.ts'
import { isHuman } from './opaque.ts'
import type { Scan } from './scan.ts'

/** The longest line and the most rows looked at. */
const MAX_LINE = 400
const MAX_ROWS = 50

const AROUND = new Set(Array.from(' "\'`*'))
const DELIMITERS = new Set(['|', ',', ';', '\t'])
const FIELD = /^[\s"'`*_#]*[\p{L}\p{N}_.# ()/-]{0,48}[\s"'`*_:]*$/u
const RULE = /^[\s|+:=-]*$/
/** Statements that name columns before their values. */
const VALUES = /^[^()\n]{0,400}\)\s{0,40}VALUES?\s{0,40}(?=\()/i

/** The sign that divides the columns around a name: the first on either side of it, behind blanks and quotes. */
const delimiterAt = (text: string, start: number, end: number): string | undefined => {
  let at = start - 1
  while (at > start - 40 && AROUND.has(text.charAt(at))) at--
  if (DELIMITERS.has(text.charAt(at))) return text.charAt(at)
  at = end
  while (at < end + 40 && AROUND.has(text.charAt(at))) at++
  return DELIMITERS.has(text.charAt(at)) ? text.charAt(at) : undefined
}

/** Where the line ends that goes on at `from`; undefined if it is longer than is looked at. */
const lineEndAt = (text: string, from: number): number | undefined => {
  const at = text.slice(from, from + MAX_LINE).indexOf('\n')
  return at !== -1 ? from + at : text.length - from <= MAX_LINE ? text.length : undefined
}

const lineAround = (text: string, start: number, end: number): readonly [from: number, to: number] | undefined => {
  const first = Math.max(0, start - MAX_LINE)
  const before = text.slice(first, start).lastIndexOf('\n')
  if (before === -1 && first > 0) return undefined
  const to = lineEndAt(text, end)
  return to === undefined ? undefined : [first + before + 1, to]
}

const addField = (scan: Scan, start: number, field: string): void => {
  const lead = /^[\s"'`*]*/.exec(field)?.[0].length ?? 0
  const value = field.slice(lead).replace(/[\s"'`*]+$/, '')
  if (isHuman(value)) scan.hits.push({ start: start + lead, end: start + lead + value.length, kind: 'name' })
}

/** The values of one column in the lines behind its header. */
const columnBelow = (scan: Scan, from: number, delimiter: string, place: number, columns: number): void => {
  const { text } = scan
  let at = from
  for (let row = 0; row < MAX_ROWS && at < text.length; row++) {
    const end = lineEndAt(text, at)
    if (end === undefined) return
    const line = text.slice(at, end)
    scan.spend(line.length + 20)
    const isRow = !RULE.test(line)
    const fields = line.split(delimiter)
    if (isRow && fields.length !== columns) return
    const before = fields.slice(0, place).reduce((sum, field) => sum + field.length + 1, 0)
    if (isRow) addField(scan, at + before, fields[place] ?? '')
    at = end + 1
  }
}

/** The values at one place of the tuples behind `VALUES`. */
const tuples = (scan: Scan, from: number, place: number): void => {
  const { text } = scan
  let at = from
  for (let row = 0; row < MAX_ROWS; row++) {
    const tuple = /^\s{0,40},?\s{0,40}\(((?:'[^'\n]{0,300}'|"[^"\n]{0,300}"|[^()'"\n]){1,100})\)/.exec(
      text.slice(at, at + 2_000),
    )
    if (tuple === null) return
    scan.spend(tuple[0].length)
    let start = at + tuple[0].length - 1 - (tuple[1] ?? '').length
    for (const [index, field] of (tuple[1] ?? '').split(',').entries()) {
      if (index === place) addField(scan, start, field)
      start += field.length + 1
    }
    at += tuple[0].length
  }
}

/** A sign divides the columns. */
const column = (scan: Scan, start: number, end: number): void => {
  const { text } = scan
  const delimiter = delimiterAt(text, start, end)
  const around = delimiter === undefined ? undefined : lineAround(text, start, end)
  if (delimiter === undefined || around === undefined) return
  const [from, to] = around
  if (inStatement(scan, start, end, from, to)) return
  const header = text.slice(from, to)
  const fields = header.split(delimiter)
  if (fields.length < 2 || !fields.every((field) => FIELD.test(field)) || isDigit(header.charCodeAt(0))) return
  columnBelow(scan, to + 1, delimiter, text.slice(from, start).split(delimiter).length - 1, fields.length)
}

/** The name is one of the columns that a statement of SQL names before their values. */
const inStatement = (scan: Scan, start: number, end: number, from: number, to: number): boolean => {
  const { text } = scan
  const before = text.slice(from, start)
  const bracket = before.lastIndexOf('(')
  if (bracket === -1) return false
  const place = before.slice(bracket).split(',').length - 1
  const values = VALUES.exec(text.slice(end, end + 500))
  if (values !== null) tuples(scan, end + values[0].length, place)
  const isCopied = values === null && /^\s*COPY\s[^(\n]{1,100}\($/i.test(before.slice(0, bracket + 1))
  if (isCopied) {
    const names =
      text
        .slice(from + bracket, to)
        .split(')')[0]
        ?.split(',') ?? []
    columnBelow(scan, to + 1, '\t', place, names.length)
  }
  return values !== null || isCopied
}

/** The same for columns that stand under each other, with several blanks between them. */
const aligned = (scan: Scan, start: number, end: number): void => {
  const { text } = scan
  if (text[end] !== '\n' && text[end] !== '\r' && !text.startsWith('  ', end)) return
  const around = lineAround(text, start, end)
  if (around === undefined) return
  const [from, to] = around
  const heads = text.slice(from, to).trim().split(/ {2,}/)
  if (heads.length < 2 || !heads.every((head) => /^[A-Z][A-Z0-9 _-]{1,30}$/.test(head))) return
  const place = text.slice(from, start).trimStart().split(/ {2,}/).length - 1
  let at = to + 1
  for (let row = 0; row < MAX_ROWS && at < text.length; row++) {
    const stop = lineEndAt(text, at)
    if (stop === undefined) return
    const line = text.slice(at, stop)
    scan.spend(line.length + 20)
    const field = line.trim().split(/ {2,}/)[place]
    if (field === undefined) return
    addField(scan, at + line.indexOf(field), field)
    at = stop + 1
  }
}

/** The name from `start` to `end` may head a column: what stands below it and looks like a secret is added to the hits. */
export const columns = (scan: Scan, start: number, end: number): void => {
  column(scan, start, end)
  aligned(scan, start, end)
}
