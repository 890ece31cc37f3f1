import { sep } from 'node:path'

/** Whether a path lies in a folder or is the folder itself: by whole segments. Both are absolute and normalised. */
export const isInside = (root: string, path: string): boolean => {
  const [outer, inner] = process.platform === 'win32' ? [root.toLowerCase(), path.toLowerCase()] : [root, path]
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep)
}
