import { isAbsolute, resolve } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { CheckLint } from 'guard-gateway/lib/mcp-check'
import type { PicomatchOptions } from 'picomatch'
import { isInside } from './containment.ts'
import { resolveLinks } from './resolve-links.ts'
import { SECRETS, secretFiles } from './secrets.ts'

/** A denied pattern, as the policy has it, and whether it matches a path with slashes. */
export interface Matcher {
  readonly pattern: string
  readonly matches: (path: string) => boolean
  /** The folders that a path goes through are no concern of it. */
  readonly whole?: boolean
}

const foldsCase = process.platform === 'darwin' || process.platform === 'win32'

/** Throws for a text of a policy that only a shell could resolve. */
export const rejectHome = (text: string, key: string): void => {
  if (text.startsWith('~'))
    throw new GuardError('INVALID_POLICY', `"${text}" begins with ~; write \${HOME} under vars instead.`, { path: key })
}

/** A folder of one name, and the step out of it. */
const PARENT_AFTER_FOLDER = /(?<=^|\/)(?!\.\.\/)[^/*?{}()[\]!+@]+\/\.\.\//

/** A pattern without steps that lead nowhere: `./a`, `a//b`, `a/./b`, `a/x/../b`. What is in a folder is denied with it. */
const normalised = (pattern: string): string => {
  let plain = `${pattern}/`.replace(/\/(?:\.?\/)+/g, '/').replace(/^(?:\.\/)+/, '')
  while (PARENT_AFTER_FOLDER.test(plain)) plain = plain.replace(PARENT_AFTER_FOLDER, '')
  return plain.replace(/(?<=.)\/$/, '') || '**'
}

/** The folder that an absolute pattern names before anything in it stands for several names. */
const folderOf = (pattern: string): string => /^[^*?{}()[\]!+@]*\//.exec(pattern)?.[0] ?? ''

/** A pattern in all its spellings: some file systems know one of an accented letter, and folders may be links. */
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

/** Ways that one match may try, each of some nanoseconds. */
const MAX_SPELLINGS = 20_000_000
/** Trying one more folder for a globstar takes as long as trying so many characters. */
const FOLDER = 20

/** In how many ways some wildcards can share out so many folders or characters. */
const spellingsOfFolders = (length: number, wildcards: number): number => {
  let product = 1
  for (let each = 1; each <= wildcards; each++) product *= Math.max(1, length / each)
  return product
}

const countOf = (text: string, mark: RegExp): number => text.match(mark)?.length ?? 0

/** Tells whether matching a path with patterns could take longer than is waited for: patterns go through all ways before they do not match. */
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

/** Makes the denied patterns of a policy ready for use. The name of the set stands for the set and, as it always has, for itself. */
export const matchersOf = async (deny: readonly string[]): Promise<readonly Matcher[]> => {
  if (deny.length === 0) return []
  const { default: picomatch } = await import('picomatch')
  const options: PicomatchOptions = { dot: true, nocase: foldsCase }
  const set = deny.includes(SECRETS) ? [{ pattern: SECRETS, matches: await secretFiles(), whole: true }] : []
  const patterns = deny.map((pattern) => {
    rejectHome(pattern, 'deny')
    const matches = picomatch(spellings(pattern), options)
    // one argument alone: its second one asks for a report, which is true of everything
    return { pattern, matches: (path: string) => matches(path) }
  })
  return [...set, ...patterns]
}

/** What to warn of in denied patterns: those that deny less than they seem to. */
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
