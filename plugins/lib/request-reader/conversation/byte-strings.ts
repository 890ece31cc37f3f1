/**
 * The encoding of parsed strings: `utf8` strings are text, in `latin1` strings each character is one byte of UTF-8 (a byte string).
 * Text beyond ASCII is read and written several times as fast in byte strings, and a search for ASCII finds the same in them.
 */
export type Encoding = 'utf8' | 'latin1'

/** Decodes the byte strings of a value to text. Returns the value itself if nothing changes. */
export const asText = <T>(value: T): T => withStrings(value, isBeyondAscii, decoded)

const isBeyondAscii = (string: string): boolean => Buffer.byteLength(string) !== string.length

const decoded = (string: string): string => Buffer.from(string, 'latin1').toString()

/** Changes all strings of a value, names of members too, if any string meets the test; else returns the value itself. */
export const withStrings = <T>(value: T, test: (string: string) => boolean, change: (string: string) => string): T =>
  someString(value, test) ? (changed(value, change) as T) : value

const someString = (value: unknown, test: (string: string) => boolean): boolean => {
  if (typeof value === 'string') return test(value)
  if (value === null || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.some((element) => someString(element, test))
  const object = value as Readonly<Record<string, unknown>>
  for (const name in object) if (test(name) || someString(object[name], test)) return true
  return false
}

const changed = (value: unknown, change: (string: string) => string): unknown => {
  if (typeof value === 'string') return change(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((element) => changed(element, change))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [change(name), changed(member, change)]))
}
