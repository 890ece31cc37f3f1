import { resolveLinks } from './resolve-links.ts'

const foldsCase = process.platform === 'darwin' || process.platform === 'win32'
const folded = (path: string): string => (foldsCase ? path.toLowerCase() : path)

/** By the list they were made of: one gateway has one. */
const known = new WeakMap<readonly string[], (path: string) => boolean>()

/**
 * Says whether an absolute path is one of these files or, as the journal of a database and copies are, named like one with something
 * after it. The files are known as they are named and as the kernel resolves them.
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
