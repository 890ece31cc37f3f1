import { importGraph, sources, tests } from '../architecture/sources.ts'

/** What imports each file, types alone left out. */
const importers = new Map<string, string[]>()
for (const [file, targets] of importGraph([...sources, ...tests], ({ typeOnly }) => !typeOnly))
  for (const target of new Set(targets)) importers.set(target, [...(importers.get(target) ?? []), file])

/** How many imports lead from each file to this one. */
const distancesTo = (file: string): ReadonlyMap<string, number> => {
  const distances = new Map([[file, 0]])
  for (const [reached, distance] of distances)
    for (const importer of importers.get(reached) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1)
  return distances
}

const sharedFolders = (file: string, test: string): number => {
  const parts = test.slice('test/'.length).replace('.test.ts', '.ts').split('/')
  const different = file.split('/').findIndex((part, place) => part !== parts[place])
  return different === -1 ? parts.length : different
}

/** The room of a file is its plugin, or what is no plugin: `plugins/policy`, `core`. */
export const roomOf = (file: string): string =>
  file
    .split('/')
    .slice(0, file.startsWith('core/') ? 1 : 2)
    .join('/')

/** The fast tests that reach a file: those in its folder and of few imports first. */
export const testsOf = (file: string): readonly string[] =>
  [...distancesTo(file)]
    .filter(([test]) => test.endsWith('.test.ts') && !test.endsWith('.system.test.ts'))
    .map(([test, distance]) => ({ test, far: distance - 2 * sharedFolders(file, test) }))
    .toSorted((one, other) => one.far - other.far || one.test.localeCompare(other.test))
    .map(({ test }) => test)
