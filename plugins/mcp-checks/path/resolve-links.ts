import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { basename, dirname, parse, sep } from 'node:path'

/** As many links as Linux follows. */
const MAX_LINKS = 40

/** What every common file system takes for a name. */
const MAX_NAME_BYTES = 255

export interface ResolvedPath {
  /** Where the path ends: no link in it, up to where nothing exists. */
  readonly real: string
  /** Links that were followed, by their own place. */
  readonly links: readonly string[]
}

const SEPARATOR = process.platform === 'win32' ? /[\\/]+/ : '/'

/** Links in here lead elsewhere for each process that follows them, and so do those that lead here, such as `/dev/fd`. */
const PROCESSES = '/proc/'

/**
 * Follows an absolute path as the kernel does, link by link, so that `..` after a link leaves the folder that the link leads to.
 * What does not exist yet is taken as it is written; a link to nothing counts by its target.
 * Throws if there are too many links, if one leads elsewhere for another process, or if a folder cannot be examined.
 */
export const resolveLinks = (path: string): ResolvedPath => {
  const links: string[] = []
  let real = rootOf(path)
  /** How many of the last segments do not exist; what is below them does not either. */
  let missing = 0
  const ahead = segmentsOf(path)
  for (let segment = ahead.pop(); segment !== undefined; segment = ahead.pop()) {
    if (segment === '..') {
      real = dirname(real)
      missing = Math.max(0, missing - 1)
      continue
    }
    const next = real.endsWith(sep) ? real + segment : real + sep + segment
    const found = missing > 0 ? undefined : entryAt(next)
    if (found?.isSymbolicLink() !== true) {
      missing += Number(found === undefined)
      real = next
      continue
    }
    const target = targetOf(next, links)
    const root = rootOf(target)
    if (root !== '') real = root
    ahead.push(...segmentsOf(target))
  }
  return { real, links }
}

/** What is at a path; undefined if nothing is there. Throws if this cannot be told. */
const entryAt = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    // a file system that says so has nothing of such a name, and a path that is too long may still be reached from a folder on it
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENAMETOOLONG' && Buffer.byteLength(basename(path)) > MAX_NAME_BYTES) return undefined
    throw error
  }
}

/** Where a link leads. */
const targetOf = (link: string, followed: string[]): string => {
  if (followed.push(link) > MAX_LINKS) throw new Error(`${link} is behind more than ${MAX_LINKS} links`)
  if (link.startsWith(PROCESSES)) throw new Error(`${link} leads elsewhere for another process`)
  return readlinkSync(link)
}

/** Where an absolute path starts; empty for another one. */
const rootOf = (path: string): string =>
  process.platform === 'win32' ? parse(path).root : path.startsWith('/') ? '/' : ''

/** Last segment first, without those that lead nowhere. */
const segmentsOf = (path: string): string[] =>
  path
    .slice(rootOf(path).length)
    .split(SEPARATOR)
    .filter((segment) => segment !== '' && segment !== '.')
    .reverse()
