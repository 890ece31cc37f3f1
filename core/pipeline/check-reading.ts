import type { Reading } from '../settled.ts'

/** Checks a meter's result. Throws TypeError, since every settle tap relies on its members. */
export const checkedReading = (given: Reading): Reading => {
  const fault = faultIn(given)
  if (fault === undefined) return given
  throw new TypeError(`a meter gives a reading at its end; this one has ${fault}`)
}

const faultIn = (given: unknown): string | undefined => {
  if (typeof given !== 'object' || given === null) return 'no object'
  const { usage, output_bytes, model, response_id, finish_reason, calls, error, complete } = given as Partial<Reading>
  const { service_tier = null, inference_geo = null } = given as Partial<Reading>
  if (!Array.isArray(calls) || !calls.every(isCall)) return 'no list of calls'
  if (!isCount(output_bytes)) return 'no number as output_bytes'
  if (usage !== null && !isUsage(usage)) return 'no counts as usage'
  if (![model, response_id, finish_reason, service_tier, inference_geo].every(isWord))
    return 'a model, response_id, finish_reason, service_tier or inference_geo that is no text'
  if (typeof error !== 'object') return 'an error that is neither null nor an object'
  return typeof complete === 'boolean' ? undefined : 'no complete'
}

const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
const isWord = (value: unknown): boolean => value === null || typeof value === 'string'
const isCall = (call: unknown): boolean =>
  typeof call === 'object' && call !== null && typeof Reflect.get(call, 'tool') === 'string'

const counts = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'reasoning_tokens',
  'total_tokens',
] as const

const isUsage = (usage: Reading['usage'] | undefined): boolean => {
  if (typeof usage !== 'object' || usage === null) return false
  for (const name of counts) if (!isCount(usage[name])) return false
  return true
}
