import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, join, parse } from 'node:path'

/** As many links as Linux follows. */
const MAX_LINKS = 40

export interface Walked {
  /** Where the path ends: no link in it, up to where nothing exists. */
  readonly real: string
  /** Links that were followed, by their own place. */
  readonly links: readonly string[]
}

const SEPARATOR = process.platform === 'win32' ? /[\\/]+/ : /\/+/

/**
 * Follows an absolute path as the kernel does, link by link, so that `..` behind a link leaves the folder that the link leads to.
 * What does not exist yet is taken as it is written; a link to nothing counts by its target.
 * Throws if there are too many links, or if a folder cannot be looked at.
 */
export const walk = (path: string): Walked => {
  const links: string[] = []
  let real = parse(path).root
  const ahead = segmentsOf(path)
  for (let segment = ahead.pop(); segment !== undefined; segment = ahead.pop()) {
    if (segment === '' || segment === '.') continue
    if (segment === '..') {
      real = dirname(real)
      continue
    }
    const next = join(real, segment)
    if (lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink() !== true) {
      real = next
      continue
    }
    links.push(next)
    if (links.length > MAX_LINKS) throw new Error(`${path} leads through more than ${MAX_LINKS} links`)
    const target = readlinkSync(next)
    const { root } = parse(target)
    if (root !== '') real = root
    ahead.push(...segmentsOf(target))
  }
  return { real, links }
}

/** Last segment first. */
const segmentsOf = (path: string): string[] => path.slice(parse(path).root.length).split(SEPARATOR).reverse()
