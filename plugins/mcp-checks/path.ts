import { isAbsolute, resolve, sep } from 'node:path'
import { plainSchema } from 'guard-gateway/core'
import { findViolations, textsAtPointers, type Violation } from 'guard-gateway/lib/check-arguments'
import { type CheckFinding, mcpCheck } from 'guard-gateway/lib/mcp-check'
import { runSteps, type Steps } from './path/bounded-steps.ts'
import { isInside } from './path/containment.ts'
import { gatewayFiles } from './path/gateway-files.ts'
import { patternLints } from './path/patterns.ts'
import { type ResolvedPath, resolveLinks } from './path/resolve-links.ts'
import { type Roots, rootsOf } from './path/roots.ts'
import { SECRETS } from './path/secrets.ts'
import { spellingsOf } from './path/spellings.ts'
import { unusablePath } from './path/unusable-path.ts'

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
