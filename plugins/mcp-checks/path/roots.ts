import { isAbsolute, relative, resolve, sep } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { PicomatchOptions } from 'picomatch'
import { formsOf } from './forms.ts'
import { walk } from './walk.ts'

export interface PathOptions {
  readonly inside: readonly string[]
  readonly deny?: readonly string[]
  readonly cwd?: string
}

/** What the options of a check become when the policy is loaded. */
export interface Roots {
  /** As written and as the kernel resolves them, absolute. */
  readonly folders: readonly string[]
  /** The same in every form that a server might make of them. */
  readonly spelled: readonly string[]
  /** As the kernel resolves them. */
  readonly real: readonly string[]
  /** Folder of relative paths, where the policy names one. */
  readonly cwd: string | undefined
  readonly first: string
  /** The first pattern that a path relative to a root, or a folder above it, matches. */
  denied(path: string): string | undefined
}

const foldsCase = process.platform === 'darwin' || process.platform === 'win32'

const unexpanded = (text: string, key: string): GuardError =>
  new GuardError('INVALID_POLICY', `"${text}" begins with ~; write \${HOME} under vars instead.`, { path: key })

/** A folder that a policy names, absolute. */
const folder = (text: string, key: string): string => {
  if (text.trim() === '')
    throw new GuardError('INVALID_POLICY', `A path check has an empty folder under "${key}".`, { path: key })
  if (text.startsWith('~')) throw unexpanded(text, key)
  return resolve(text)
}

/** Whether a path lies in a folder or is the folder itself: by whole segments. Both are absolute and normalised. */
export const isInside = (root: string, path: string): boolean => {
  const [outer, inner] = process.platform === 'win32' ? [root.toLowerCase(), path.toLowerCase()] : [root, path]
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep)
}

/** Resolves the folders and compiles the patterns of a policy's check. */
export const rootsOf = async ({ inside, deny = [], cwd }: PathOptions): Promise<Roots> => {
  const written = inside.map((text) => folder(text, 'inside'))
  const real = written.map((root) => walk(root).real)
  const folders = [...new Set([...written, ...real])]
  const patterns = await matchers(deny)
  const denied = (path: string): string | undefined => {
    for (const root of folders.filter((one) => isInside(one, path))) {
      const found = patterns.find(({ matches }) => withParents(relative(root, path)).some(matches))
      if (found !== undefined) return found.pattern
    }
    return patterns.find(({ pattern, matches }) => isAbsolute(pattern) && withParents(path).some(matches))?.pattern
  }
  return {
    folders,
    spelled: folders.flatMap((root) => [...(formsOf(root) ?? [])]),
    real,
    cwd: cwd === undefined ? undefined : folder(cwd, 'cwd'),
    first: written[0] ?? process.cwd(),
    denied,
  }
}

interface Matcher {
  readonly pattern: string
  readonly matches: (path: string) => boolean
}

const matchers = async (deny: readonly string[]): Promise<readonly Matcher[]> => {
  if (deny.length === 0) return []
  const { default: picomatch } = await import('picomatch')
  const options: PicomatchOptions = { dot: true, nocase: foldsCase }
  return deny.map((pattern) => {
    if (pattern.startsWith('~')) throw unexpanded(pattern, 'deny')
    // what is in a folder is denied with it, and some file systems know one spelling of an accented letter
    const written = pattern.replace(/(?<=.)\/+$/, '')
    const matches = picomatch([...new Set([written, written.normalize('NFC')])], options)
    // one argument alone: its second one asks for a report, which is true of everything
    return { pattern, matches: (path) => matches(path) }
  })
}

/** `a/b/c` gives `a/b/c`, `a/b` and `a`: what is in a denied folder is denied. */
const withParents = (path: string): string[] => {
  const slashed = sep === '/' ? path : path.replaceAll(sep, '/')
  const paths: string[] = []
  for (let end = slashed.length; end > 0; end = slashed.lastIndexOf('/', end - 1)) paths.push(slashed.slice(0, end))
  return paths
}
