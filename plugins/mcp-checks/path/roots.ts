import { isAbsolute, relative, resolve, sep } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Steps } from './bounded-steps.ts'
import { isInside } from './containment.ts'
import { type Matcher, matchersOf, rejectHome, tooManySpellings } from './patterns.ts'
import { resolveLinks } from './resolve-links.ts'
import { spellingsOf } from './spellings.ts'

export interface PathOptions {
  readonly inside: readonly string[]
  readonly deny?: string | readonly string[]
  readonly cwd?: string
}

/** The compiled options of a path check. */
export interface Roots {
  /** Absolute folders, as written and as resolved. */
  readonly folders: readonly string[]
  /** All spellings of the folders. */
  readonly spelled: readonly string[]
  /** Resolved folders. */
  readonly real: readonly string[]
  /** Folder of relative paths, if the policy sets one. */
  readonly cwd: string | undefined
  readonly first: string
  /** True if the patterns take too long for a path. */
  readonly isTooDeep: (path: string) => boolean
  /** The first pattern that matches a path relative to a root, or a folder above it. Yields between matches, which can be slow. */
  denied(path: string): Steps<string>
}

/** An absolute folder from a policy. */
const folder = (text: string, key: string): string => {
  if (text.trim() === '')
    throw new GuardError('INVALID_POLICY', `A path check has an empty folder under "${key}".`, { path: key })
  rejectHome(text, key)
  return resolve(text)
}

/** Resolves the folders of a check and compiles its patterns. */
export const rootsOf = async ({ inside, deny = [], cwd }: PathOptions): Promise<Roots> => {
  const written = inside.map((text) => folder(text, 'inside'))
  const real = written.map((root) => resolveLinks(root).real)
  const folders = [...new Set([...written, ...real])]
  const patterns = await matchersOf([deny].flat())
  const absolute = patterns.filter(({ pattern }) => isAbsolute(pattern))
  const denied = function* (path: string): Steps<string> {
    if (patterns.length === 0) return undefined
    for (const root of folders.filter((one) => isInside(one, path))) {
      const found = yield* firstOf(patterns, relative(root, path))
      if (found !== undefined) return found
    }
    return yield* firstOf(absolute, path)
  }
  return {
    folders,
    spelled: folders.flatMap((root) => [...(spellingsOf(root) ?? [])]),
    real,
    cwd: cwd === undefined ? undefined : folder(cwd, 'cwd'),
    first: written[0] ?? process.cwd(),
    isTooDeep: tooManySpellings([deny].flat()),
    denied,
  }
}

/** The first matching pattern. */
function* firstOf(patterns: readonly Matcher[], path: string): Steps<string> {
  if (patterns.length === 0) return undefined
  const whole = [slashed(path)]
  const parents = withParents(path)
  for (const { pattern, matches, whole: isWhole = false } of patterns)
    for (const one of isWhole ? whole : parents) {
      if (matches(one)) return pattern
      yield
    }
  return undefined
}

const slashed = (path: string): string => (sep === '/' ? path : path.replaceAll(sep, '/'))

/** `a/b/c` gives `a/b/c`, `a/b` and `a`, because a denied folder includes its contents. */
const withParents = (path: string): string[] => {
  const whole = slashed(path)
  const paths: string[] = []
  for (let end = whole.length; end > 0; end = whole.lastIndexOf('/', end - 1)) paths.push(whole.slice(0, end))
  return paths
}
