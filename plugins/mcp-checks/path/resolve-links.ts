import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { basename, dirname, parse, sep } from 'node:path'

/** The limit of Linux. */
const MAX_LINKS = 40

/** The name limit of all common file systems. */
const MAX_NAME_BYTES = 255

export interface ResolvedPath {
  /** The path without links. Its last segments can be missing. */
  readonly real: string
  /** Paths of the links that were followed. */
  readonly links: readonly string[]
}

const SEPARATOR = process.platform === 'win32' ? /[\\/]+/ : '/'

/** Links in this folder, such as the target of `/dev/fd`, have another target for each process. */
const PROCESSES = '/proc/'

/**
 * Resolves an absolute path like the kernel, link by link: `..` after a link leaves the target of the link. Missing
 * segments are kept as written. A dangling link resolves to its target.
 * Throws for too many links, for a link with another target per process, and for a folder that cannot be read.
 */
export const resolveLinks = (path: string): ResolvedPath => {
  const links: string[] = []
  let real = rootOf(path)
  /** Number of missing segments at the end. */
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

/** The entry at a path. Undefined if missing. Throws if unknown. */
const entryAt = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    // a name above the limit cannot exist; a long path of valid names can, because it is reachable relative to a folder
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENAMETOOLONG' && Buffer.byteLength(basename(path)) > MAX_NAME_BYTES) return undefined
    throw error
  }
}

/** The target of a link. */
const targetOf = (link: string, followed: string[]): string => {
  if (followed.push(link) > MAX_LINKS) throw new Error(`${link} is behind more than ${MAX_LINKS} links`)
  if (link.startsWith(PROCESSES)) throw new Error(`${link} leads elsewhere for another process`)
  return readlinkSync(link)
}

/** The root of an absolute path. Empty for a relative one. */
const rootOf = (path: string): string =>
  process.platform === 'win32' ? parse(path).root : path.startsWith('/') ? '/' : ''

/** The segments without empty ones and dots, last segment first. */
const segmentsOf = (path: string): string[] =>
  path
    .slice(rootOf(path).length)
    .split(SEPARATOR)
    .filter((segment) => segment !== '' && segment !== '.')
    .reverse()
