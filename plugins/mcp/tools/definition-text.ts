import type { Redactor } from 'guard-gateway/core'
import { isJsonObject, readJson } from 'guard-gateway/lib/json'
import { cutText, terminalText } from 'guard-gateway/lib/text'
import { pinnedOf } from './definition.ts'

const MAX_CHARS = 32_768

/** What is pinned of a definition as lines that a person can compare: redacted, at most 32,768 characters. */
export const definitionText = (json: string, redact: Redactor): string => {
  const read: unknown = readJson(json)
  const lines = Object.entries(pinnedOf(isJsonObject(read) ? read : {})).flatMap(([key, value]) => linesOf(key, value))
  // redacted whole, shortened afterwards: the other way round half a secret would stay
  const text = terminalText(redact.text(lines.join('\n')))
  return text.length <= MAX_CHARS ? text : `${cutText(text, MAX_CHARS)}\n… ${text.length} characters in all`
}

/** Integers beyond 2^53, as servers written in Rust or Go give for `maximum`, have all their digits. */
const exact = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value

const linesOf = (key: string, value: unknown): readonly string[] => {
  const text = typeof value === 'string' ? value : JSON.stringify(value, exact, 2)
  const [first = '', ...more] = text.split(/\r?\n/)
  return [`${key}: ${first}`, ...more.map((line) => `  ${line}`)]
}
