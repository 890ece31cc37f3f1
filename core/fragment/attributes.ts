import { isShape } from '../dialect/shape.ts'
import { GuardError } from '../errors.ts'
import { pointerPart } from '../json/pointer.ts'
import { cutBeforeRedaction, cutText, sanitise } from '../text.ts'
import type { Attributes } from '../trace.ts'

/** Attributes of one record. */
export const MAX_KEYS = 256
/** UTF-16 units of a name. */
export const KEY_CHARS = 256
/** Levels of nesting. */
export const MAX_DEPTH = 32
/** UTF-16 units of one text, and of all attributes of a record. */
export const VALUE_CHARS = 8_192
export const ALL_CHARS = 65_536

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
  if (keys.length > MAX_KEYS) throw tooMany(`${keys.length} attributes; a record may have ${MAX_KEYS}`, path)
  if (keys.some((key) => key.length > KEY_CHARS))
    throw tooMany(`an attribute's name is longer than ${KEY_CHARS} characters`, path)
  if ('' in attributes)
    throw new GuardError('INVALID_TRACE', 'An attribute has no name. Name it, or leave it out.', { path: `${path}/` })
  return mapped(attributes, (text) => cutBeforeRedaction(sanitise(text)), path, formed) as Attributes
}

/** The part with its names well-formed. Throws for one that is too deep or no finite number. */
const formed = (part: unknown, depth: number, path: string): unknown => {
  if (depth > MAX_DEPTH) throw new GuardError('TOO_DEEP', `Attributes nest deeper than ${MAX_DEPTH} levels.`, { path })
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
    const kept = text.length <= VALUE_CHARS ? text : cutText(text, VALUE_CHARS)
    if (kept !== text) cut(at, VALUE_CHARS)
    chars += kept.length
    return kept
  }
  const countNames = (part: unknown, depth: number): unknown => {
    if (depth > 0 && isShape(part)) for (const name of Object.keys(part)) chars += name.length
    return part
  }
  const short = mapped(attributes, shorten, path, countNames) as Attributes
  if (chars > ALL_CHARS) throw tooMany(`${chars} characters of attributes; a record may have ${ALL_CHARS}`, path)
  return short
}
