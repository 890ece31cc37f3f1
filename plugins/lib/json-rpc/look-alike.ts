/** Names that fold to themselves and that nothing else in their alphabet is taken for. */
const PLAIN = /^[a-z0-9_$.-]*$/
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** What a lax reader may take a name for: compatibility forms, case and invisible characters made equal. */
export const foldName = (name: string): string =>
  PLAIN.test(name) ? name : name.normalize('NFKC').replace(INVISIBLE, '').toUpperCase().toLowerCase().normalize('NFKC')

/** The first of these names, in order, that looks like one of the meant names and is not it. */
export const lookAlikeAmong = (
  names: readonly { readonly name: string }[],
  canonicalNames: ReadonlyMap<string, string>,
): string | undefined => {
  for (const { name } of names) {
    const known = canonicalNames.get(foldName(name))
    if (known !== undefined && known !== name) return name
  }
}

/** Names by what they fold to. */
export const byFold = (names: readonly string[]): ReadonlyMap<string, string> =>
  new Map(names.map((name) => [foldName(name), name]))
