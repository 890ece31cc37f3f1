import { isDigit } from './alphabet.ts'
import { isIgnorable } from './ignorable.ts'
import { type View, ViewBuilder } from './view.ts'

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
  a: ' ',
  b: ' ',
  e: '\u001b',
  f: ' ',
  v: ' ',
  '"': '"',
  "'": "'",
  '`': '`',
  '/': '/',
  '\\': '\\',
}

/** What an escape stands for, and how long it is written. */
type Escape = readonly [meaning: string, length: number]

const PERCENT = /(?:%[0-9A-Fa-f]{2}){1,12}/y
const BACKSLASH = /\\(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|([0-3][0-7]{1,2}))/y
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([A-Za-z]{2,16}));?/y

/** The escapes of a backslash and one sign, by sign. */
const ONE_SIGN: readonly (Escape | undefined)[] = Array.from({ length: 128 }, (_none, unit) => {
  const meaning = SIGNS[String.fromCharCode(unit)]
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
  const builder = new ViewBuilder(text)
  for (let offset = 0; offset < text.length; ) {
    const found = read(text, offset)
    if (found === undefined) {
      offset++
      continue
    }
    const [meaning, length] = found
    builder.replace(offset, length, meaning)
    offset += length
  }
  return builder.view()
}

/** `text` without characters nobody sees and with one level of percent, backslash and HTML escapes resolved; undefined if there were none. */
export const decode = (text: string): View | undefined => {
  const seen = resolve(text, invisible)
  const read = resolve(seen?.text ?? text, escapeAt)
  if (seen === undefined || read === undefined) return read ?? seen
  return { text: read.text, origin: (offset) => seen.origin(read.origin(offset)) }
}
