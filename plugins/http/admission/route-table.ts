import type { FastifyRequest } from 'fastify'
import { GuardError } from 'guard-gateway/core'
import type { ModelPaths } from '../models/model-paths.ts'
import { decodedPath } from './target.ts'

const NOT_FORWARDED =
  'This path is not one that the gateway judges, and it is not forwarded. Check it, or list it under passthrough in guard-config.yml to have it forwarded unjudged and unrecorded.'

/** All registered routes, to distinguish an unknown path from a wrong method. */
export class RouteTable {
  readonly #methods = new Map<string, Set<string>>()
  readonly #paths: ModelPaths<unknown>

  constructor(paths: ModelPaths<unknown>) {
    this.#paths = paths
  }

  add(methods: string | readonly string[], pattern: string): void {
    const known = this.#methods.get(pattern) ?? new Set()
    for (const method of typeof methods === 'string' ? [methods] : methods) known.add(method)
    this.#methods.set(pattern, known)
  }

  /** The methods that any route takes. */
  get methods(): readonly string[] {
    return [...new Set([...this.#methods.values()].flatMap((methods) => [...methods]))].sort()
  }

  /** The methods of the routes that a path matches; empty if it matches none. */
  allowed(path: string): readonly string[] {
    const found = new Set(this.#paths.methodsAt(path))
    for (const [pattern, methods] of this.#methods)
      if (matches(pattern, path)) for (const method of methods) found.add(method)
    return [...found].sort()
  }

  /** Refuses a decoded path in which a server that merges slashes or overlooks case would see a route that is served here. Throws NOT_FOUND. */
  refuseSpelling(method: string, path: string): void {
    const plain = path.replace(/[/\\]+/g, '/').toLowerCase()
    if (this.allowed(plain).includes(method) || (method === 'POST' && this.#paths.isSpelling(plain)))
      throw new GuardError(
        'NOT_FOUND',
        `This path is another spelling of ${plain}, which the gateway judges. Send that.`,
      )
  }

  /** NOT_FOUND or METHOD_NOT_ALLOWED for a request. */
  refusal({ raw, method }: FastifyRequest): GuardError {
    const path = decodedPath(raw.url ?? '')
    const allowed = this.allowed(path)
    // with its own method the path only looks like a route, for example by an encoded slash
    if (allowed.length === 0 || allowed.includes(method))
      return new GuardError('NOT_FOUND', this.#paths.kindOf(path) === 'model' ? NOT_FORWARDED : undefined)
    return new GuardError('METHOD_NOT_ALLOWED', `This path takes ${allowed.join(', ')}, not ${method}.`, {
      headers: { allow: allowed.join(', ') },
    })
  }
}

/** `:name` matches one segment (or what precedes a suffix), a final `*` matches the rest. */
const matches = (pattern: string, path: string): boolean => {
  const expected = pattern.split('/')
  const actual = path.split('/')
  if (!pattern.endsWith('*') && expected.length !== actual.length) return false
  return expected.every((part, index) => part === '*' || partMatches(part, actual[index]))
}

const partMatches = (part: string, actual: string | undefined): boolean => {
  if (actual === undefined) return false
  if (!part.startsWith(':')) return part === actual
  const suffix = /\.\w+$/.exec(part)?.[0] ?? ''
  return actual.length > suffix.length && actual.endsWith(suffix)
}
