import { isAbsolute, relative, resolve, sep } from 'node:path'
import { GuardError, plainSchema } from 'guard-gateway/core'
import { CHECK_TIMED_OUT, findViolations, textsAtPointers, type Violation } from 'guard-gateway/lib/check-arguments'
import { type CheckFinding, mcpCheck } from 'guard-gateway/lib/mcp-check'
import { inTurns, Pace } from 'guard-gateway/lib/time-slice'
import { isInside, type Matcher, matchersOf, patternLints, rejectHome, tooManySpellings } from './path/patterns.ts'
import { type ResolvedPath, resolveLinks } from './path/resolve-links.ts'
import { SECRETS } from './path/secrets.ts'
import { spellingsOf } from './path/spellings.ts'
import { unusablePath } from './path/unusable-path.ts'

/** Work that yields between steps, and its result. */
type Steps<Result> = Generator<undefined, Result | undefined>

/** Time limit for the steps of one text, in milliseconds. */
const MAX_MS = 1_000

function* bounded(steps: Steps<Violation>, isLate: () => boolean): Steps<Violation> {
  let worked = 0
  for (;;) {
    if (worked > MAX_MS || isLate()) return CHECK_TIMED_OUT
    const since = performance.now()
    const step = steps.next()
    worked += performance.now() - since
    if (step.done === true) return step.value
    yield
  }
}

/** Runs the steps: short work synchronously, longer work with yields to the event loop. After the time limit the result is uncertain. */
const runSteps = (
  steps: Steps<Violation>,
  isLate: () => boolean,
): Violation | undefined | Promise<Violation | undefined> => inTurns(bounded(steps, isLate), new Pace())

interface PathOptions {
  readonly inside: readonly string[]
  readonly deny?: string | readonly string[]
  readonly cwd?: string
}

/** The compiled options of a path check. */
interface Roots {
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
const rootsOf = async ({ inside, deny = [], cwd }: PathOptions): Promise<Roots> => {
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

const foldsCase = process.platform === 'darwin' || process.platform === 'win32'
const folded = (path: string): string => (foldsCase ? path.toLowerCase() : path)

/** Predicates by their list. Each gateway has one list. */
const known = new WeakMap<readonly string[], (path: string) => boolean>()

/**
 * Returns a predicate for files of the gateway. It also matches names that extend theirs, such as journals of a
 * database and copies. It knows each file by its name and by its resolved path.
 */
const gatewayFiles = (files: readonly string[]): ((path: string) => boolean) => {
  const made = known.get(files)
  if (made !== undefined) return made
  const all = [...new Set(files.flatMap((file) => [file, resolved(file)]))].map(folded)
  const isOwn = (path: string): boolean => {
    const foldedPath = folded(path)
    return all.some((file) => foldedPath.startsWith(file) && !foldedPath.slice(file.length).includes('/'))
  }
  known.set(files, isOwn)
  return isOwn
}

const resolved = (file: string): string => {
  try {
    return resolveLinks(file).real
  } catch {
    return file
  }
}

const MAX_BYTES = 4096

type Symlinks = 'resolve' | 'reject' | 'ignore'

interface Options {
  args: string[]
  inside: string[]
  deny?: string | string[]
  cwd?: string
  symlinks?: Symlinks
  optional?: boolean
}

const strings = { $ref: '#/$defs/strings' }

const schema = plainSchema<Options>({
  type: 'object',
  additionalProperties: false,
  required: ['args', 'inside'],
  properties: {
    args: { $ref: '#/$defs/pointers' },
    inside: strings,
    deny: {
      type: ['array', 'string'],
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', minLength: 1 },
      pattern: '^secrets$',
      description:
        "patterns, relative to the allowed folders; secrets, alone or among them: files that hold credentials, the gateway's own too",
    },
    cwd: { type: 'string', minLength: 1 },
    symlinks: { enum: ['resolve', 'reject', 'ignore'], default: 'resolve' },
    optional: { $ref: '#/$defs/optional' },
  },
})

/** Roots by their options, so that a call need not compile them. */
const compiled = new WeakMap<Options, Roots>()

/** Keeps file paths inside allowed folders, in every spelling that a server might resolve. */
export const path = mcpCheck({
  id: 'path',
  schema,

  async compile(options): Promise<Options> {
    compiled.set(options, await rootsOf(options))
    return options
  },

  lint: ({ symlinks, deny = [], inside }) => [
    ...(symlinks === 'ignore'
      ? [
          {
            code: 'PATH_LINKS_IGNORED',
            message: 'Symbolic links are not looked at: right only for a server whose files are on another machine.',
          },
        ]
      : []),
    ...patternLints([deny].flat(), inside),
  ],

  find(args, options, at): readonly CheckFinding[] | Promise<readonly CheckFinding[]> {
    const roots = compiled.get(options)
    const own = gatewayFiles(at.own_files ?? [])
    const judge = (known: Roots): readonly CheckFinding[] | Promise<readonly CheckFinding[]> => {
      const base = known.cwd ?? at.cwd ?? known.first
      const context = { base, roots: known, own, symlinks: options.symlinks ?? 'resolve' }
      return findViolations(textsAtPointers(args, options), ({ text, wrong }, isLate) =>
        text === undefined ? wrong : runSteps(objection(text, context), isLate),
      )
    }
    return roots === undefined ? rootsOf(options).then(judge) : judge(roots)
  },
})

/** The context for judging a path. */
interface PathContext {
  /** Folder of relative paths. */
  readonly base: string
  readonly roots: Roots
  /** True for a file of the gateway. */
  readonly own: (path: string) => boolean
  readonly symlinks: Symlinks
}

/** The violation of a text, in any of its spellings. */
function* objection(text: string, context: PathContext): Steps<Violation> {
  const forms = readable(text)
  if ('reason' in forms) return forms
  for (const form of forms) {
    const found = yield* violationInForm(form, form === text, context)
    if (found !== undefined) return found
    yield
  }
  return undefined
}

const readable = (text: string): ReadonlySet<string> | Violation => {
  if (Buffer.byteLength(text) > MAX_BYTES) return { reason: `is over ${MAX_BYTES} bytes long`, certain: true }
  return spellingsOf(text) ?? { reason: 'is percent-encoded over and over', certain: false }
}

/** The violation of one spelling. */
function* violationInForm(form: string, asSent: boolean, context: PathContext): Steps<Violation> {
  if (context.roots.isTooDeep(form))
    return { reason: 'has too many folders or letters for the patterns it is held against', certain: false }
  const reason = unusablePath(form, process.platform) ?? (yield* reasonOutside(form, asSent, context))
  if (reason !== undefined) return { reason, certain: true }
  return context.symlinks === 'ignore' ? undefined : yield* violationInLinks(form, context)
}

const OUTSIDE = 'resolves outside the allowed folders'

const OWN = 'is a file of the gateway itself'

const matches = (pattern: string): string =>
  pattern === SECRETS ? 'is a file that may hold secrets' : `matches the denied pattern ${pattern}`

/**
 * Judges the normalised text without the file system. Spellings other than the sent text are also compared with other
 * spellings of the folders.
 */
function* reasonOutside(form: string, asSent: boolean, { base, roots, own }: PathContext): Steps<string> {
  const normalised = resolve(base, form)
  if (!(asSent ? roots.folders : roots.spelled).some((root) => isInside(root, normalised))) return OUTSIDE
  if (own(normalised)) return OWN
  const pattern = yield* roots.denied(normalised)
  return pattern === undefined ? undefined : matches(pattern)
}

/** Judges the path as the kernel resolves it, and as a server that normalises first. */
function* violationInLinks(form: string, context: PathContext): Steps<Violation> {
  const normalised = resolve(context.base, form)
  // another spelling of a folder has no files to follow on this machine
  if (!context.roots.folders.some((root) => isInside(root, normalised))) return undefined
  const found = yield* violationInTarget(normalised, normalised, context)
  if (found !== undefined || !form.includes('..')) return found
  return yield* violationInTarget(isAbsolute(form) ? form : context.base + sep + form, normalised, context)
}

/** Judges the target of the path after its links, unless `judged` is that target. */
function* violationInTarget(start: string, judged: string, { roots, own, symlinks }: PathContext): Steps<Violation> {
  const resolvedPath = resolvedOrNone(start)
  if (resolvedPath === undefined) return { reason: 'cannot be followed to its end', certain: false }
  const isReal = (context: string): boolean => roots.real.some((root) => isInside(root, context))
  if (!isReal(resolvedPath.real)) return { reason: OUTSIDE, certain: true }
  if (symlinks === 'reject' && resolvedPath.links.some(isReal))
    return { reason: 'leads through a symbolic link', certain: true }
  if (own(resolvedPath.real)) return { reason: OWN, certain: true }
  const pattern = resolvedPath.real === judged ? undefined : yield* roots.denied(resolvedPath.real)
  return pattern === undefined ? undefined : { reason: matches(pattern), certain: true }
}

const resolvedOrNone = (start: string): ResolvedPath | undefined => {
  try {
    return resolveLinks(start)
  } catch {
    return undefined
  }
}
