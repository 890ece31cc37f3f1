/**
 * What the characters of strings are: those of text, or each a byte of its UTF-8. Such byte strings are read and written several
 * times as fast where text is not ASCII, and whatever looks for ASCII alone finds the same in them.
 */
export type Encoding = 'utf8' | 'latin1'

/** A value whose strings are byte strings, with text in their place; the value itself if that is the same. */
export const asText = <T>(value: T): T => (isAscii(value) ? value : (textOf(value) as T))

const textOf = (value: unknown): unknown => {
  if (typeof value === 'string') return Buffer.from(value, 'latin1').toString()
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(textOf)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [textOf(name), textOf(member)]))
}

const isAscii = (value: unknown): boolean => {
  if (typeof value === 'string') return Buffer.byteLength(value) === value.length
  if (value === null || typeof value !== 'object') return true
  if (Array.isArray(value)) return value.every(isAscii)
  const object = value as Readonly<Record<string, unknown>>
  for (const name in object) if (!isAscii(name) || !isAscii(object[name])) return false
  return true
}
