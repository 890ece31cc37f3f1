import { isAbsolute, resolve, sep } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { CheckLint } from 'guard-gateway/lib/mcp-check'
import type { PicomatchOptions } from 'picomatch'
import { resolveLinks } from './resolve-links.ts'
import { SECRETS, secretFiles } from './secrets.ts'

/** A denied pattern of a policy, and its match function for paths with slashes. */
export interface Matcher {
  readonly pattern: string
  readonly matches: (path: string) => boolean
  /** True: only the whole path is matched, not the folders above it. */
  readonly whole?: boolean
}

const foldsCase = process.platform === 'darwin' || process.platform === 'win32'

/** Throws for a `~`, which only a shell expands. */
export const rejectHome = (text: string, key: string): void => {
  if (text.startsWith('~'))
    throw new GuardError('INVALID_POLICY', `"${text}" begins with ~; write \${HOME} under vars instead.`, { path: key })
}

/** A folder and the `..` after it. */
const PARENT_AFTER_FOLDER = /(?<=^|\/)(?!\.\.\/)[^/*?{}()[\]!+@]+\/\.\.\//

/** Removes empty steps of a pattern: `./a`, `a//b`, `a/./b`, `a/x/../b`. A denied folder includes its contents. */
const normalised = (pattern: string): string => {
  let plain = `${pattern}/`.replace(/\/(?:\.?\/)+/g, '/').replace(/^(?:\.\/)+/, '')
  while (PARENT_AFTER_FOLDER.test(plain)) plain = plain.replace(PARENT_AFTER_FOLDER, '')
  return plain.replace(/(?<=.)\/$/, '') || '**'
}

/** The literal folder at the start of an absolute pattern, before its first wildcard. */
const folderOf = (pattern: string): string => /^[^*?{}()[\]!+@]*\//.exec(pattern)?.[0] ?? ''

/** All spellings of a pattern: some file systems normalise accented letters, and folders can be links. */
const spellings = (pattern: string): string[] => {
  const written = normalised(pattern)
  return [...new Set([written, ...real(written)].flatMap((one) => [one, one.normalize('NFC')]))]
}

const real = (pattern: string): readonly string[] => {
  const folder = isAbsolute(pattern) ? folderOf(pattern) : ''
  if (folder === '') return []
  try {
    return [`${resolveLinks(folder).real}/${pattern.slice(folder.length)}`.replace(/^\/\//, '/')]
  } catch {
    return []
  }
}

/** Maximum backtracking steps of one match, at some nanoseconds each. */
const MAX_SPELLINGS = 20_000_000
/** A folder step of a globstar takes as long as this number of characters. */
const FOLDER = 20

/** Number of ways to split a number of folders or characters among wildcards. */
const spellingsOfFolders = (length: number, wildcards: number): number => {
  let product = 1
  for (let each = 1; each <= wildcards; each++) product *= Math.max(1, length / each)
  return product
}

const countOf = (text: string, mark: RegExp): number => text.match(mark)?.length ?? 0

/** Returns a predicate for paths with a match time above the limit. Patterns backtrack through all ways before they fail. */
export const tooManySpellings = (patterns: readonly string[]): ((path: string) => boolean) => {
  const folders = Math.max(0, ...patterns.map((one) => countOf(one, /\*\*+/g)))
  const characters = Math.max(
    0,
    ...patterns.flatMap((one) => one.split('/')).map((name) => countOf(name, /(?<!\*)\*(?!\*)|[+*@!]\(/g)),
  )
  return (path) => {
    const names = path.split(/[/\\]/)
    if (spellingsOfFolders(names.length, folders) * FOLDER > MAX_SPELLINGS) return true
    return (
      spellingsOfFolders(
        names.reduce((most, { length }) => Math.max(most, length), 0),
        characters,
      ) > MAX_SPELLINGS
    )
  }
}

/** Compiles the denied patterns of a policy. `secrets` means the set of secret files and, for compatibility, also the literal name. */
export const matchersOf = async (deny: readonly string[]): Promise<readonly Matcher[]> => {
  if (deny.length === 0) return []
  const { default: picomatch } = await import('picomatch')
  const options: PicomatchOptions = { dot: true, nocase: foldsCase }
  const set = deny.includes(SECRETS) ? [{ pattern: SECRETS, matches: await secretFiles(), whole: true }] : []
  const patterns = deny.map((pattern) => {
    rejectHome(pattern, 'deny')
    const matches = picomatch(spellings(pattern), options)
    // picomatch's second argument would make it return an object, which is truthy
    return { pattern, matches: (path: string) => matches(path) }
  })
  return [...set, ...patterns]
}

/** Warnings about patterns that deny less than they seem to. */
export const patternLints = (deny: readonly string[], inside: readonly string[]): readonly CheckLint[] =>
  deny.flatMap((pattern) => {
    if (isElsewhere(pattern, inside))
      return {
        code: 'PATH_DENY_ELSEWHERE',
        message: `"${pattern}" lies in none of the allowed folders and denies nothing there. Patterns without a slash in front are relative to each folder.`,
      }
    return /^(?!\*+$|\.+$)[^/]*$/.test(pattern) && /^\.|\*/.test(pattern)
      ? {
          code: 'PATH_DENY_AT_TOP',
          message: `"${pattern}" denies names at the top of the allowed folders alone; "**/${pattern}" denies them in every folder.`,
        }
      : []
  })

const isElsewhere = (pattern: string, inside: readonly string[]): boolean => {
  if (!isAbsolute(pattern)) return false
  const folders = [pattern, ...real(normalised(pattern))].map((one) => resolve(folderOf(normalised(one))))
  const roots = inside
    .filter((root) => !root.startsWith('~'))
    .flatMap((root) => [resolve(root), resolvedPath(resolve(root))])
  return !folders.some((folder) => roots.some((root) => isInside(root, folder) || isInside(folder, root)))
}

const resolvedPath = (path: string): string => {
  try {
    return resolveLinks(path).real
  } catch {
    return path
  }
}

/** True if a path is in a folder or is the folder itself, compared by whole segments. Both must be absolute and normalised. */
export const isInside = (root: string, path: string): boolean => {
  const [outer, inner] = process.platform === 'win32' ? [root.toLowerCase(), path.toLowerCase()] : [root, path]
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep)
}
