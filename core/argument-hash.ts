import { createHmac } from 'node:crypto'
import { readJson } from './json.ts'

const MAX_DEPTH = 256

/** HMAC-SHA-256 of a tool call's arguments under a key, hex: equal for every spelling of the same JSON, and not to be guessed from outside. */
export const argumentHash = (key: string, args: unknown): string =>
  createHmac('sha256', key).update(canonicalText(args)).digest('hex')

/** Members sorted and nothing dropped; integers with every digit. Text that is no JSON stands for itself. */
const canonicalText = (args: unknown): string => {
  if (typeof args !== 'string') return canonicalJson(args ?? {})
  const text = args.trim()
  if (text === '') return '{}'
  if (text[0] !== '{' && text[0] !== '[') return text
  try {
    return canonicalJson(readJson(text))
  } catch {
    return text
  }
}

/** One text for all spellings of a JSON value: members sorted, nothing dropped, integers with every digit. */
export const canonicalJson = (value: unknown): string => written(value, 0)

const written = (value: unknown, depth: number): string => {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map((part) => written(part, depth + 1)).join(',')}]`
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, part]) => `${JSON.stringify(name)}:${written(part, depth + 1)}`).join(',')}}`
}
