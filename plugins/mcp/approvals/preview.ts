import type { Redactor } from 'guard-gateway/core'
import { writeJson } from '#lib/json'
import { cutText } from '#lib/text'

/** Characters of a preview. */
const PREVIEW_CHARS = 4_000
const HEAD_CHARS = 400
const TAIL_CHARS = 100
const MAX_MEMBERS = 200
const MAX_DEPTH = 12

/** Arguments as an approver sees them: redacted, long texts as head, tail and length, at most 4,000 characters of JSON. */
export const previewOf = (args: Readonly<Record<string, unknown>>, redact: Redactor): string => {
  // redacted whole, shortened afterwards: the other way round half a secret would stay
  const text = writeJson(shortened(redact.value(args), 0))
  return text.length <= PREVIEW_CHARS ? text : `${cutText(text, PREVIEW_CHARS - 1)}…`
}

/** Arguments as an approver can read them to the end: redacted, as JSON. */
export const wholeOf = (args: Readonly<Record<string, unknown>>, redact: Redactor): string =>
  writeJson(writable(redact.value(args)))

/** JSON has no word for what is beyond every number. */
const writable = (value: unknown): unknown => {
  if (value === Infinity || value === -Infinity) return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(writable)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, writable(part)]))
}

const shortened = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return shortText(value)
  if (typeof value !== 'object' || value === null) return writable(value)
  if (depth >= MAX_DEPTH) return '…'
  if (Array.isArray(value)) {
    const parts = value.slice(0, MAX_MEMBERS).map((part) => shortened(part, depth + 1))
    return value.length > MAX_MEMBERS ? [...parts, `… ${value.length - MAX_MEMBERS} more`] : parts
  }
  const members = Object.entries(value)
  const visible = members.slice(0, MAX_MEMBERS).map(([name, part]) => [shortText(name), shortened(part, depth + 1)])
  if (members.length > MAX_MEMBERS) visible.push(['…', `${members.length - MAX_MEMBERS} more`])
  return Object.fromEntries(visible)
}

const shortText = (text: string): string =>
  text.length <= HEAD_CHARS + TAIL_CHARS + 40
    ? text
    : `${cutText(text, HEAD_CHARS)}… (${text.length} characters) …${text.slice(-TAIL_CHARS).toWellFormed()}`
