/**
 * Groups runs into collections by their folders. Folders with a common run form one collection, named after all of
 * them: they have the same runs, for example once as text and once as hashes.
 */
export const collectionsOf = (places: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, string> => {
  const groups = new Map<string, ReadonlySet<string>>()
  for (const folders of places.values()) {
    const joined = new Set([...folders].flatMap((folder) => [...(groups.get(folder) ?? [folder])]))
    for (const folder of joined) groups.set(folder, joined)
  }
  return new Map(
    [...places].map(([run, folders]) => {
      const [folder = ''] = folders
      return [run, [...(groups.get(folder) ?? folders)].sort().join('+')]
    }),
  )
}
