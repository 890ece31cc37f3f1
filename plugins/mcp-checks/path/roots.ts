import { isAbsolute, relative, resolve, sep } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import { isInside } from './containment.ts'
import { formsOf } from './forms.ts'
import { type Matcher, matchersOf, rejectHome } from './patterns.ts'
import { walk } from './walk.ts'

export interface PathOptions {
  readonly inside: readonly string[]
  readonly deny?: string | readonly string[]
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

/** A folder that a policy names, absolute. */
const folder = (text: string, key: string): string => {
  if (text.trim() === '')
    throw new GuardError('INVALID_POLICY', `A path check has an empty folder under "${key}".`, { path: key })
  rejectHome(text, key)
  return resolve(text)
}

/** Resolves the folders and compiles the patterns of a policy's check. */
export const rootsOf = async ({ inside, deny = [], cwd }: PathOptions): Promise<Roots> => {
  const written = inside.map((text) => folder(text, 'inside'))
  const real = written.map((root) => walk(root).real)
  const folders = [...new Set([...written, ...real])]
  const patterns = await matchersOf([deny].flat())
  const denied = (path: string): string | undefined => {
    if (patterns.length === 0) return undefined
    for (const root of folders.filter((one) => isInside(one, path))) {
      const found = patterns.find((pattern) => isDenied(relative(root, path), pattern))
      if (found !== undefined) return found.pattern
    }
    return patterns.find((one) => isAbsolute(one.pattern) && isDenied(path, one))?.pattern
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

const isDenied = (path: string, { matches, whole = false }: Matcher): boolean =>
  whole ? matches(slashed(path)) : withParents(path).some(matches)

const slashed = (path: string): string => (sep === '/' ? path : path.replaceAll(sep, '/'))

/** `a/b/c` gives `a/b/c`, `a/b` and `a`: what is in a denied folder is denied. */
const withParents = (path: string): string[] => {
  const whole = slashed(path)
  const paths: string[] = []
  for (let end = whole.length; end > 0; end = whole.lastIndexOf('/', end - 1)) paths.push(whole.slice(0, end))
  return paths
}
