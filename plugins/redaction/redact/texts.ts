import type { Finder } from 'guard-gateway/core'
import { isDigit } from './alphabet.ts'
import { decodeBase64 } from './base64.ts'
import { type Hit, hide, isMark, type Kind, mark } from './hit.ts'
import { isIgnorable } from './ignorable.ts'
import type { Learned } from './learned.ts'
import { type Rules, Scan } from './scan.ts'
import { shapes } from './shapes.ts'
import { terminalViews } from './terminal.ts'
import { type View, ViewBuilder } from './view.ts'
import type { Work } from './work.ts'

/** How many encodings, one in the other, are looked through. */
const MAX_LEVELS = 3
/** Hiding a part can complete another; so often a text is looked at again before it is given up. */
const MAX_PASSES = 8
/** Steps a character costs when a text is decoded, and when it is read as JSON. */
const DECODE = 8
const PARSE = 6
/** The longest text that is remembered when clean. */
const MAX_REMEMBERED = 96

/** Rewrites a text that is JSON, its secrets hidden; undefined if it is none or holds none. */
export type JsonRewriter = (text: string, level: number) => string | undefined

/** Redacts single texts; `level` counts the encodings a text was taken out of. */
export interface Texts {
  /** Throws what a finder throws. */
  redact(text: string, level: number): string
  /** What stands in the text, as it is or encoded. */
  kinds(text: string): readonly Kind[]
}

/** The text may be a JSON array, object or string. */
const looksLikeJson = (text: string): boolean => {
  const first = text.charAt(0) <= ' ' ? text.trimStart().charAt(0) : text.charAt(0)
  return (first === '{' || first === '[' || first === '"') && /[}\]"]\s{0,64}$/.test(text.slice(-65))
}

const findAll = (text: string, finders: readonly Finder[], hits: Hit[]): void => {
  for (const finder of finders) {
    let from = 0
    for (let found = finder(text, from); found !== undefined; found = finder(text, from)) {
      const [start, end] = found
      if (start < from || end <= start) break
      hits.push({ start, end, kind: 'configured' })
      from = end
    }
  }
}

/** Base64 broken into lines is one run. */
const joinLines = (text: string, runs: readonly number[]): readonly (readonly [start: number, end: number])[] => {
  const joined: (readonly [start: number, end: number])[] = []
  for (let run = 0; run < runs.length; run += 2) {
    const start = runs[run] ?? 0
    const end = runs[run + 1] ?? 0
    const last = joined.at(-1)
    const goesOn = last !== undefined && last[1] - last[0] >= 60 && /^\r?\n$/.test(text.slice(last[1], start))
    if (goesOn) joined[joined.length - 1] = [last[0], end]
    else joined.push([start, end])
  }
  return joined
}

/** The redactor of texts for one set of rules; configured finders run on every form of a text, clean or not. */
export const texts = (
  rules: Rules,
  finders: readonly Finder[],
  rewriteJson: JsonRewriter,
  work: Work,
  learned: Learned,
): Texts => {
  const clean = remembered(MAX_REMEMBERED)

  const hitsIn = (text: string, level: number, isView = false): readonly Hit[] => {
    const scan = new Scan(text, rules, work).run(shapes)
    const { hits, runs, coded, coloured } = scan
    if (finders.length > 0) findAll(text, finders, hits)
    again(text, hits)
    // A view of a coloured text has no colours; what it still shows of them stood apart.
    if (coloured && !isView) inColours(text, level, hits)
    const isPlain = !coded && !coloured && runs.length === 0
    if (!isPlain) inOtherForms(scan, level + 1)
    else if (hits.length === 0) clean.add(text)
    return hits
  }

  /** What was hidden before in the same text or record. */
  const again = (text: string, hits: Hit[]): void => {
    work.spend(text.length * learned.size)
    learned.find(text, hits)
    learned.add(text, hits)
  }

  const inColours = (text: string, level: number, hits: Hit[]): void => {
    work.spend(text.length * DECODE)
    for (const view of terminalViews(text)) inView(view, level, hits, true)
  }

  const inOtherForms = ({ text, coded, runs, hits }: Scan, level: number): void => {
    if (level > MAX_LEVELS) return
    if (coded) work.spend(text.length * DECODE)
    const view = coded ? decode(text) : undefined
    if (view !== undefined) inView(view, level, hits)
    inRuns(text, runs, level, hits)
  }

  /** What is found in the resolved text hides what it was resolved from. */
  const inView = (view: View, level: number, hits: Hit[], isView = false): void => {
    if (hidesAsJson(view.text, level)) hits.push({ start: 0, end: view.origin(view.text.length), kind: 'name' })
    for (const { start, end, kind } of hitsIn(view.text, level, isView)) {
      hits.push({ start: view.origin(start), end: view.origin(end), kind })
    }
  }

  /** What is found in decoded base64 hides the whole run. */
  const inRuns = (text: string, runs: readonly number[], level: number, hits: Hit[]): void => {
    for (const [start, end] of joinLines(text, runs)) {
      const decoded = decodeBase64(text.slice(start, end))
      if (decoded === undefined) continue
      const kind = hitsIn(decoded, level)[0]?.kind ?? (hidesAsJson(decoded, level) ? 'name' : undefined)
      if (kind !== undefined) hits.push({ start, end: afterPadding(text, end), kind })
    }
  }

  const hidesAsJson = (text: string, level: number): boolean =>
    looksLikeJson(text) && rewriteJson(text, level) !== undefined

  const onePass = (text: string, level: number): string => {
    if (looksLikeJson(text)) work.spend(text.length * PARSE)
    const rewritten = level < MAX_LEVELS && looksLikeJson(text) ? (rewriteJson(text, level + 1) ?? text) : text
    const hits = hitsIn(rewritten, level)
    return hits.length === 0 ? rewritten : hide(rewritten, hits)
  }

  const isClean = (text: string): boolean => {
    if (!clean.has(text) || learned.standsIn(text)) return false
    for (const finder of finders) if (finder(text, 0) !== undefined) return false
    return true
  }

  return {
    redact(text, level) {
      if (text === '' || isMark(text) || isClean(text)) return text
      let current = text
      for (let pass = 0; pass < MAX_PASSES; pass++) {
        const next = onePass(current, level)
        if (next === current) return next
        current = next
      }
      return mark('fault')
    },
    kinds: (text) => (isClean(text) ? NONE : hitsIn(text, 0).map(({ kind }) => kind)),
  }
}

const NONE: readonly Kind[] = []

const afterPadding = (text: string, end: number): number => {
  let behind = end
  while (behind < end + 2 && text[behind] === '=') behind++
  return behind
}

/** So many texts are held in each of two generations. */
const GENERATION = 2_048

/** A bounded memory of texts: when a generation is full, the one before it is forgotten. */
interface Remembered {
  has(text: string): boolean
  add(text: string): void
}

/** A memory of texts of at most `maxLength` UTF-16 units; longer ones are not taken up. */
const remembered = (maxLength: number): Remembered => {
  let young = new Set<string>()
  let old = new Set<string>()
  return {
    has: (text) => text.length <= maxLength && (young.has(text) || old.has(text)),
    add(text) {
      if (text.length > maxLength) return
      if (young.size >= GENERATION) {
        old = young
        young = new Set()
      }
      young.add(text)
    },
  }
}

/** Entities of HTML, and what each stands for; the last two show nothing. */
const ENTITY_NAMES =
  'amp lt gt quot apos equals colon commat lowbar hyphen dash period sol bsol plus percnt num nbsp shy ZeroWidthSpace'.split(
    ' ',
  )
const ENTITY_SIGNS = '&<>"\'=:@_--./\\+%# '
/** Signs behind a backslash that stand for others; all that are not listed stand for nothing. */
const SIGNS: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  a: ' ',
  b: ' ',
  e: '\u001b',
  f: ' ',
  v: ' ',
}
const THEMSELVES = '"\'`/\\'

/** What an escape stands for, and how long it is written. */
type Escape = readonly [meaning: string, length: number]

const PERCENT = /(?:%[0-9A-Fa-f]{2}){1,12}/y
const BACKSLASH = /\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|([0-3][0-7]{1,2}))/y
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z]{2,16}));?/y

/** The escapes of a backslash and one sign, by sign. */
const ONE_SIGN: readonly (Escape | undefined)[] = Array.from({ length: 128 }, (_none, unit) => {
  const sign = String.fromCharCode(unit)
  const meaning = THEMSELVES.includes(sign) ? sign : SIGNS[sign]
  return meaning === undefined ? undefined : ([meaning, 2] as const)
})

const at = (pattern: RegExp, text: string, offset: number): RegExpExecArray | null => {
  pattern.lastIndex = offset
  return pattern.exec(text)
}

const character = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD')

/** The value of a hex digit, -1 for other characters. */
const hexDigit = (unit: number): number => {
  if (isDigit(unit)) return unit - 0x30
  const letter = unit | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** One byte if it is ASCII; several at once if they are one character of UTF-8. */
const percent = (text: string, offset: number): Escape | undefined => {
  const high = hexDigit(text.charCodeAt(offset + 1))
  const low = hexDigit(text.charCodeAt(offset + 2))
  if (high < 0 || low < 0) return undefined
  if (high < 8) return [String.fromCharCode(high * 16 + low), 3]
  // no byte of UTF-8 beyond ASCII stands alone: `%DB_NAME%` is a variable of Windows
  if (text[offset + 3] !== '%') return undefined
  const found = at(PERCENT, text, offset)?.[0]
  if (found === undefined) return undefined
  const bytes = Buffer.from(found.replaceAll('%', ''), 'hex')
  const first = bytes[0] ?? 0
  const size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  return [bytes.toString('utf8', 0, size), 3 * Math.min(size, bytes.length)]
}

const backslash = (text: string, offset: number): Escape | undefined => {
  const sign = ONE_SIGN[text.charCodeAt(offset + 1)]
  if (sign !== undefined) return sign
  const found = at(BACKSLASH, text, offset)
  if (found === null) return undefined
  const [written, unit, point, byte, octal] = found
  if (octal !== undefined) return [character(Number.parseInt(octal, 8)), written.length]
  const code = unit ?? point ?? byte
  return [character(Number.parseInt(code ?? '', 16)), written.length]
}

const entity = (text: string, offset: number): Escape | undefined => {
  const found = at(ENTITY, text, offset)
  if (found === null) return undefined
  const [written, decimal, hex, name] = found
  if (name !== undefined) {
    const place = ENTITY_NAMES.indexOf(name)
    return place === -1 ? undefined : [ENTITY_SIGNS.charAt(place), written.length]
  }
  return [character(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)), written.length]
}

/** Invisible characters may divide an escape, so they go before escapes are read. */
const invisible = (text: string, offset: number): Escape | undefined => {
  const unit = text.charCodeAt(offset)
  if (!isIgnorable(unit)) return undefined
  return ['', unit >= 0xd800 && unit <= 0xdbff ? 2 : 1]
}

const escapeAt = (text: string, offset: number): Escape | undefined => {
  const unit = text.charCodeAt(offset)
  if (unit === 0x25) return percent(text, offset)
  if (unit === 0x5c) return backslash(text, offset)
  return unit === 0x26 ? entity(text, offset) : undefined
}

/** `text` with what `read` finds at the places `sign` leads to replaced by its meaning; undefined if it finds nothing. */
const resolve = (
  text: string,
  sign: RegExp,
  read: (text: string, offset: number) => Escape | undefined,
): View | undefined => {
  const builder = new ViewBuilder(text)
  sign.lastIndex = 0
  for (let found = sign.exec(text); found !== null; found = sign.exec(text)) {
    const written = read(text, found.index)
    if (written === undefined) continue
    const [meaning, length] = written
    builder.replace(found.index, length, meaning)
    sign.lastIndex = found.index + length
  }
  return builder.view()
}
const ESCAPE_SIGN = /[%\\&]/g
const BEYOND = /[^\t\n\r\x20-\x7e]/g

/** `text` without characters nobody sees and with one level of percent, backslash and HTML escapes resolved; undefined if there were none. */
const decode = (text: string): View | undefined => {
  const seen = resolve(text, BEYOND, invisible)
  const read = resolve(seen?.text ?? text, ESCAPE_SIGN, escapeAt)
  if (seen === undefined || read === undefined) return read ?? seen
  return { text: read.text, origin: (offset) => seen.origin(read.origin(offset)) }
}
