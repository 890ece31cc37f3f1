import { createHmac } from 'node:crypto'
import { parseJson, readJson } from '#lib/json'

const MAX_DEPTH = 256

/** HMAC-SHA-256 of a tool call's arguments under a key, hex: equal for every spelling of the same JSON, and not to be guessed from outside. */
export const argumentHash = (key: string, args: unknown): string =>
  createHmac('sha256', key).update(canonicalText(args)).digest('hex')

/** Members sorted and nothing dropped; numbers with every digit. Text that is no JSON stands for itself. */
const canonicalText = (args: unknown): string => {
  if (typeof args !== 'string') return canonicalJson(args ?? {})
  const text = args.trim()
  if (text === '') return '{}'
  if (text[0] !== '{' && text[0] !== '[') return text
  try {
    return canonicalJson(MAY_LOSE_DIGITS.test(text) ? parseJson(text, exactNumber) : readJson(text))
  } catch {
    return text
  }
}

/** Numbers of up to 15 digits survive as doubles; only texts with longer ones, or with exponents, are read the slow way. */
const MAY_LOSE_DIGITS = /[\d.]{16}|\d[eE][+-]?\d/

/** A number that a double cannot hold: it stands for itself, as it is spelled. */
class NumberText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const exactNumber = (_name: string, value: unknown, context?: { readonly source?: string }): unknown => {
  const source = context?.source
  return typeof value === 'number' && source !== undefined && digitsOf(source) !== digitsOf(String(value))
    ? new NumberText(source)
    : value
}

/** Significant digits and the power of ten of the first: equal for all spellings of one number. Loops, as patterns would examine long runs of zeros again and again. */
const digitsOf = (literal: string): string => {
  const [, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(literal) ?? []
  const digits = whole + fraction
  let first = 0
  while (digits[first] === '0') first++
  let end = digits.length
  while (end > first && digits[end - 1] === '0') end--
  // a longer exponent is none that a double has
  if (exponent.length > MAX_EXPONENT_CHARS) return literal
  return first === end ? '0' : `${digits.slice(first, end)}e${Number(exponent) + whole.length - first}`
}
const MAX_EXPONENT_CHARS = 12
const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** One text for all spellings of a JSON value: members sorted, nothing dropped, integers with every digit. */
export const canonicalJson = (value: unknown): string => written(value, 0)

const written = (value: unknown, depth: number): string => {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof NumberText) return value.text
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map((part) => written(part, depth + 1)).join(',')}]`
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, part]) => `${JSON.stringify(name)}:${written(part, depth + 1)}`).join(',')}}`
}
