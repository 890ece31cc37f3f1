import { isJsonObject, type JsonObject } from 'guard-gateway/lib/json'

/** Longer JSON text is not parsed. */
const MAX_JSON_CHARS = 65_536

/** The usage within a longer text, whose end may have been cut. */
const USAGE_PART = /"usage(?:_?[mM]etadata)?"\s*:\s*(\{(?:[^{}]|\{[^{}]*\})*\})/

/** The object of a value, also of one in JSON text; of text that is too long or cut, the usage in it. */
export const heldIn = (value: unknown): JsonObject | undefined => {
  if (isJsonObject(value)) return value
  if (typeof value !== 'string' || !/^\s*\{/.test(value)) return undefined
  const whole = value.length > MAX_JSON_CHARS ? undefined : parsed(value)
  if (whole !== undefined) return whole
  const part = USAGE_PART.exec(value.slice(0, MAX_JSON_CHARS))?.[1]
  const usage = part === undefined ? undefined : parsed(part)
  return usage && { usage }
}

const parsed = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
