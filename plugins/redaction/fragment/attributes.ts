import type { Attributes } from 'guard-gateway/core'
import { attributeLimits, GuardError } from 'guard-gateway/core'
import { isJsonObject, pointerPart } from 'guard-gateway/lib/json'
import { cutBeforeRedaction, cutText, sanitise } from 'guard-gateway/lib/text'

/** The value with every text passed through `map`, after `enter` had each part; itself where nothing changed. */
const mapped = (
  given: unknown,
  map: (text: string, path: string) => string,
  path: string,
  enter: (part: unknown, depth: number, path: string) => unknown,
  depth = 0,
): unknown => {
  const value = enter(given, depth, path)
  if (typeof value === 'string') return map(value, path)
  if (typeof value !== 'object' || value === null) return value
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value)
  let copy: object | undefined
  for (const [key, part] of entries) {
    const result = mapped(part, map, `${path}/${pointerPart(String(key))}`, enter, depth + 1)
    if (Object.is(result, part)) continue
    copy ??= Array.isArray(value) ? [...value] : { ...value }
    Object.defineProperty(copy, key, { value: result, enumerable: true, configurable: true, writable: true })
  }
  return copy ?? value
}

/** Attributes that may be looked at further: few enough, each named, not too deep, every number finite, every text well-formed. */
export const checkedAttributes = (attributes: Attributes, path: string): Attributes => {
  const keys = Object.keys(attributes)
  if (keys.length > attributeLimits.keys)
    throw tooMany(`${keys.length} attributes; a record may have ${attributeLimits.keys}`, path)
  if (keys.some((key) => key.length > attributeLimits.key_chars))
    throw tooMany(`an attribute's name is longer than ${attributeLimits.key_chars} characters`, path)
  if ('' in attributes)
    throw new GuardError('INVALID_TRACE', 'An attribute has no name. Name it, or leave it out.', { path: `${path}/` })
  return mapped(attributes, (text) => cutBeforeRedaction(sanitise(text)), path, formed) as Attributes
}

/** The part with its names well-formed. Throws for one that is too deep or no finite number. */
const formed = (part: unknown, depth: number, path: string): unknown => {
  if (depth > attributeLimits.depth)
    throw new GuardError('TOO_DEEP', `Attributes nest deeper than ${attributeLimits.depth} levels.`, { path })
  // an integer beyond all doubles is none that readers of JSON or OTLP take
  if ((typeof part === 'number' || typeof part === 'bigint') && !Number.isFinite(Number(part)))
    throw new GuardError('INVALID_TRACE', 'A number is not finite. Send a finite number, or a text.', { path })
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
  if (Object.keys(part).every((key) => sanitise(key) === key)) return part
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [sanitise(key), value]))
}

const tooMany = (what: string, path: string): GuardError =>
  new GuardError('TOO_MANY_ATTRIBUTES', `There is more than is kept: ${what}.`, { path })

/** Attributes with long texts cut; `cut` is told of each. Throws TOO_MANY_ATTRIBUTES where all of them are still too long. */
export const cutAttributes = (
  attributes: Attributes,
  path: string,
  cut: (path: string, max: number) => void,
): Attributes => {
  let chars = 0
  const shorten = (text: string, at: string): string => {
    const kept = text.length <= attributeLimits.value_chars ? text : cutText(text, attributeLimits.value_chars)
    if (kept !== text) cut(at, attributeLimits.value_chars)
    chars += kept.length
    return kept
  }
  const countNames = (part: unknown, depth: number): unknown => {
    if (depth > 0 && isJsonObject(part)) for (const name of Object.keys(part)) chars += name.length
    return part
  }
  const short = mapped(attributes, shorten, path, countNames) as Attributes
  if (chars > attributeLimits.all_chars)
    throw tooMany(`${chars} characters of attributes; a record may have ${attributeLimits.all_chars}`, path)
  return short
}
