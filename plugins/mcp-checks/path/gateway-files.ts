import { resolveLinks } from './resolve-links.ts'

const foldsCase = process.platform === 'darwin' || process.platform === 'win32'
const folded = (path: string): string => (foldsCase ? path.toLowerCase() : path)

/** Predicates by their list. Each gateway has one list. */
const known = new WeakMap<readonly string[], (path: string) => boolean>()

/**
 * Returns a predicate for files of the gateway. It also matches names that extend theirs, such as journals of a
 * database and copies. It knows each file by its name and by its resolved path.
 */
export const gatewayFiles = (files: readonly string[]): ((path: string) => boolean) => {
  const made = known.get(files)
  if (made !== undefined) return made
  const all = [...new Set(files.flatMap((file) => [file, resolved(file)]))].map(folded)
  const isOwn = (path: string): boolean => {
    const asked = folded(path)
    return all.some((file) => asked.startsWith(file) && !asked.slice(file.length).includes('/'))
  }
  known.set(files, isOwn)
  return isOwn
}

const resolved = (file: string): string => {
  try {
    return resolveLinks(file).real
  } catch {
    return file
  }
}
