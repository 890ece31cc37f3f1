import { isIgnorable } from './ignorable.ts'

/** A text with its escapes resolved, and for each of its characters where it came from. */
export interface View {
  readonly text: string
  /** Offset in the source by offset in the view; one more entry for the end. */
  readonly origin: readonly number[]
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  equals: '=',
  colon: ':',
  commat: '@',
  lowbar: '_',
  hyphen: '-',
  dash: '-',
  period: '.',
  sol: '/',
  bsol: '\\',
  plus: '+',
  percnt: '%',
  num: '#',
  shy: '',
  ZeroWidthSpace: '',
}
const SIGNS: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: ' ',
  f: ' ',
  '"': '"',
  "'": "'",
  '`': '`',
  '/': '/',
  '\\': '\\',
}

/** What an escape stands for, and how long it is written. */
type Escape = readonly [meaning: string, length: number]

const PERCENT = /(?:%[0-9A-Fa-f]{2}){1,12}/y
const BACKSLASH = /\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|(["'`/\\nrtbf]))/y
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z]{2,16}));?/y

const at = (pattern: RegExp, text: string, offset: number): RegExpExecArray | null => {
  pattern.lastIndex = offset
  return pattern.exec(text)
}

const character = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD')

/** One byte if it is ASCII; several at once if they are one character of UTF-8. */
const percent = (text: string, offset: number): Escape | undefined => {
  const found = at(PERCENT, text, offset)?.[0]
  if (found === undefined) return undefined
  const bytes = Buffer.from(found.replaceAll('%', ''), 'hex')
  const first = bytes[0] ?? 0
  const size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  return [bytes.toString('utf8', 0, size), 3 * Math.min(size, bytes.length)]
}

const backslash = (text: string, offset: number): Escape | undefined => {
  const found = at(BACKSLASH, text, offset)
  if (found === null) return undefined
  const [written, unit, point, byte, sign] = found
  const code = unit ?? point ?? byte
  return [code === undefined ? (SIGNS[sign ?? ''] ?? '') : character(Number.parseInt(code, 16)), written.length]
}

const entity = (text: string, offset: number): Escape | undefined => {
  const found = at(ENTITY, text, offset)
  if (found === null) return undefined
  const [written, decimal, hex, name] = found
  if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? [ENTITIES[name] ?? '', written.length] : undefined
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

/** `text` with what `read` finds in it replaced by its meaning; undefined if it finds nothing. */
const resolve = (text: string, read: (text: string, offset: number) => Escape | undefined): View | undefined => {
  const origin: number[] = []
  let result = ''
  let from = 0
  for (let offset = 0; offset < text.length; ) {
    const found = read(text, offset)
    if (found === undefined) {
      origin.push(offset++)
      continue
    }
    const [meaning, length] = found
    result += text.slice(from, offset) + meaning
    for (let unit = 0; unit < meaning.length; unit++) origin.push(offset)
    offset += length
    from = offset
  }
  if (from === 0) return undefined
  origin.push(text.length)
  return { text: result + text.slice(from), origin }
}

/** `text` without characters nobody sees and with one level of percent, backslash and HTML escapes resolved; undefined if there were none. */
export const decode = (text: string): View | undefined => {
  const seen = resolve(text, invisible)
  const read = resolve(seen?.text ?? text, escapeAt)
  if (seen === undefined || read === undefined) return read ?? seen
  return { text: read.text, origin: read.origin.map((offset) => seen.origin[offset] ?? 0) }
}
