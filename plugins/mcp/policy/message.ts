import type { Redactor } from 'guard-gateway/core'
import { readJson, writeJson } from '#lib/json'
import type { Arguments } from '#lib/mcp-check'
import { cutBeforeRedaction, cutText, terminalLine } from '#lib/text'

const PLACE = /\{arguments\.([^{}]+)\}/g
const MAX_VALUE = 200
const EXAMINED = 4_000

/** The rule's words with `{arguments.key}` filled in: redacted, on one line, at most 200 characters each. `source`: JSON text of the arguments. */
export const filledMessage = (message: string, source: string, redact: Redactor): string => {
  if (message.search(PLACE) === -1) return message
  const args = readJson(source) as Arguments
  return message.replace(PLACE, (_whole, key: string) =>
    Object.hasOwn(args, key) ? valueText(key, args[key], redact) : '(none)',
  )
}

/** The name goes along, since some names make their value a secret. */
const valueText = (key: string, value: unknown, redact: Redactor): string => {
  const text = typeof value === 'object' ? writeJson(value) : String(value)
  const cleaned = redact.value({ [key]: cutBeforeRedaction(text, EXAMINED) })[key]
  const line = terminalLine(String(cleaned))
  return line.length > MAX_VALUE ? `${cutText(line, MAX_VALUE - 1)}…` : line
}

/** What a check says, fit to be shown: redacted, on one line, at most 400 characters. */
export const displayReason = (text: string, redact: Redactor): string =>
  cutText(terminalLine(redact.text(cutBeforeRedaction(text, EXAMINED))), 2 * MAX_VALUE)
