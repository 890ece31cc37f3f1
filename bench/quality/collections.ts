/**
 * Collections of runs, by the folders that each run is in. Folders that share a run tell of the same ones,
 * once as text and once as hashes for example: they are one collection, named after all of them.
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
