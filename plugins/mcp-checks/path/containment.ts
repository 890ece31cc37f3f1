import { sep } from 'node:path'

/** True if a path is in a folder or is the folder itself, compared by whole segments. Both must be absolute and normalised. */
export const isInside = (root: string, path: string): boolean => {
  const [outer, inner] = process.platform === 'win32' ? [root.toLowerCase(), path.toLowerCase()] : [root, path]
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep)
}
