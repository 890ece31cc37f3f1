/**
 * What the characters of strings are: those of text, or each a byte of its UTF-8. Such byte strings are read and written several
 * times as fast where text is not ASCII, and whatever looks for ASCII alone finds the same in them.
 */
export type Encoding = 'utf8' | 'latin1'

/** A value whose strings are byte strings, with text in their place; the value itself if that is the same. */
export const asText = <T>(value: T): T => withStrings(value, isBeyondAscii, decoded)

const isBeyondAscii = (string: string): boolean => Buffer.byteLength(string) !== string.length

const decoded = (string: string): string => Buffer.from(string, 'latin1').toString()

/** A value with its strings changed, names of members too, where any of them is to be; else the value itself. */
export const withStrings = <T>(
  value: T,
  isMeant: (string: string) => boolean,
  change: (string: string) => string,
): T => (holds(value, isMeant) ? (changed(value, change) as T) : value)

const holds = (value: unknown, isMeant: (string: string) => boolean): boolean => {
  if (typeof value === 'string') return isMeant(value)
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some((element) => holds(element, isMeant))
  const object = value as Readonly<Record<string, unknown>>
  for (const name in object) if (isMeant(name) || holds(object[name], isMeant)) return true
  return false
}

const changed = (value: unknown, change: (string: string) => string): unknown => {
  if (typeof value === 'string') return change(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((element) => changed(element, change))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [change(name), changed(member, change)]))
}
