/** Whether a parsed value holds an integer beyond 2^53, which may have lost digits. */
export const hasRoundedInteger = (value: unknown): boolean => {
  if (typeof value === 'number') return !Number.isSafeInteger(value) && Number.isInteger(value)
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some(hasRoundedInteger)
  const object = value as Readonly<Record<string, unknown>>
  for (const name in object) if (hasRoundedInteger(object[name])) return true
  return false
}
