/** Names that fold to themselves and that nothing else in their alphabet is taken for. */
const PLAIN = /^[a-z0-9_$.-]*$/
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** What a lax reader may take a name for: compatibility forms, case and invisible characters made equal. */
export const foldName = (name: string): string =>
  PLAIN.test(name) ? name : name.normalize('NFKC').replace(INVISIBLE, '').toUpperCase().toLowerCase().normalize('NFKC')

const ASCII = /^[\x20-\x7e]*$/

/** The name is taken for a plain ASCII name by a lax reader, and is none. */
const posesAsAscii = (name: string): boolean => !ASCII.test(name) && ASCII.test(foldName(name))

/**
 * JSON pointers of the keys in a parsed value, at any depth, that look like another key beside them
 * or like a plain ASCII name, and are not equal to it.
 */
export const lookAlikesIn = (value: unknown): readonly string[] => {
  const found: string[] = []
  const open: Open[] = [[value, '']]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [part, pointer] = next
    if (typeof part !== 'object' || part === null) continue
    if (Array.isArray(part)) pushItems(open, part, pointer)
    else pushMembers(open, part as Readonly<Record<string, unknown>>, pointer, found)
  }
  return found
}

type Open = readonly [value: unknown, pointer: string]

const pushItems = (open: Open[], items: readonly unknown[], pointer: string): void => {
  for (const [index, item] of items.entries()) if (typeof item === 'object') open.push([item, `${pointer}/${index}`])
}

const pushMembers = (open: Open[], part: Readonly<Record<string, unknown>>, pointer: string, found: string[]): void => {
  const keys = Object.keys(part)
  for (const key of oddKeys(keys)) found.push(`${pointer}/${escaped(key)}`)
  for (const key of keys) if (typeof part[key] === 'object') open.push([part[key], `${pointer}/${escaped(key)}`])
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

const oddKeys = (keys: readonly string[]): readonly string[] => {
  if (keys.every((key) => PLAIN.test(key))) return []
  const folds = new Map<string, number>()
  for (const key of keys) folds.set(foldName(key), (folds.get(foldName(key)) ?? 0) + 1)
  return keys.filter((key) => posesAsAscii(key) || (folds.get(foldName(key)) ?? 0) > 1)
}

/** The first of these names, in order, that looks like one of the meant names and is not it. */
export const lookAlikeAmong = (
  names: readonly { readonly name: string }[],
  meant: ReadonlyMap<string, string>,
): string | undefined => {
  for (const { name } of names) {
    const known = meant.get(foldName(name))
    if (known !== undefined && known !== name) return name
  }
}

/** Names by what they fold to. */
export const byFold = (names: readonly string[]): ReadonlyMap<string, string> =>
  new Map(names.map((name) => [foldName(name), name]))
