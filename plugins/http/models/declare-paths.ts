import type { IncomingMessage } from 'node:http'
import { type ApiStyle, GuardError, type Registry } from 'guard-gateway/core'
import { type PathPattern, pathPattern, type RequestTarget } from '#lib/api-style'
import { pathOf } from '../admission/target.ts'
import { styleOf } from '../errors.ts'
import type { HttpServerState, Serve } from '../http-server-state.ts'
import { guarded } from './exchange.ts'
import { METHODS, type ModelPaths, type ModelRoute } from './model-paths.ts'
import { passthrough, unguarded } from './passthrough.ts'

/** Declares the paths of all API styles and the model list, once. Throws DUPLICATE and TypeError for paths that cannot be served. */
export const declareModelPaths = ({ gateway: { apiStyles }, modelPaths }: HttpServerState): void => {
  if (modelPaths.declared.length > 0) return
  checkPaths(apiStyles, pathAliases)
  for (const style of apiStyles) {
    modelPaths.addStyle(style)
    for (const path of style.paths) declareGuarded(modelPaths, style, path)
    for (const path of style.unguarded ?? []) declareUnguarded(modelPaths, style, path)
  }
  const choose = modelList(modelPaths)
  const urls = pathAliases('/v1/models')
  // a client asks by HEAD whether there is anything; an upstream may know no HEAD, and the server leaves the body out
  for (const method of ['GET', 'HEAD'] as const)
    modelPaths.add({ method, path: '/v1/models', urls, kind: 'list', choose })
}

/** The ways a path below /v1 is spelled by clients whose base address is off by a `/v1`, and another path as it is; each with and without a slash at the end. */
const pathAliases = (path: string): readonly string[] => {
  const rest = /^\/v1(\/.*)/.exec(path)?.[1]
  return (rest === undefined ? [path] : [path, rest, `/v1${path}`]).flatMap((spelled) => [spelled, `${spelled}/`])
}

const declareGuarded = (modelPaths: ModelPaths<Serve>, style: ApiStyle, path: string): void => {
  const pattern = patternOf(style, path)
  const serve = (target: RequestTarget) => guarded(style, target)
  if (pattern.hasParams) {
    modelPaths.addPattern({ method: 'POST', style, isGuarded: true, serve }, pattern)
    return
  }
  const route = { style, serve: serve({ path, params: {} }) }
  modelPaths.add({ method: 'POST', path, urls: pathAliases(path), kind: 'guarded', style, choose: () => route })
}

/** `declared`: method and path, as `GET /api/tags`. */
const declareUnguarded = (modelPaths: ModelPaths<Serve>, style: ApiStyle, declared: string): void => {
  const [, named, path = ''] = /^([A-Z]+) (\/.*)$/.exec(declared) ?? []
  const method = METHODS.find((known) => known === named)
  if (method === undefined)
    throw new TypeError(`An unguarded path of API style "${style.id}" is "${declared}"; it is like "GET /api/tags".`)
  const pattern = patternOf(style, path)
  const serve = (target: RequestTarget) => unguarded(style, target, method)
  if (pattern.hasParams) {
    const added = { method, style, isGuarded: false }
    modelPaths.addPattern({ ...added, serve }, pattern)
    for (const [alias, canonical] of patternAliases(path))
      modelPaths.addPattern(
        { ...added, serve: (target) => serve({ ...target, path: canonical(target.path) }) },
        pathPattern(alias),
      )
    return
  }
  // another style lets it pass already
  if (modelPaths.declares(method, path)) return
  const route = { style, serve: serve({ path, params: {} }) }
  const urls = pathAliases(path)
  for (const each of method === 'GET' ? (['GET', 'HEAD'] as const) : [method])
    modelPaths.add({ method: each, path, urls, kind: 'unguarded', style, choose: () => route })
}

/** The other ways a pattern below /v1 is spelled, and the canonical form of a path that is spelled so. */
const patternAliases = (pattern: string): readonly (readonly [string, (path: string) => string])[] =>
  pattern.startsWith('/v1/')
    ? [
        [pattern.slice('/v1'.length), (path) => `/v1${path}`],
        [`/v1${pattern}`, (path) => path.slice('/v1'.length)],
      ]
    : []

/** Throws TypeError for a path that cannot be matched, with the name of its style. */
const patternOf = (style: ApiStyle, path: string): PathPattern => {
  try {
    return pathPattern(path)
  } catch (error) {
    throw new TypeError(`API style "${style.id}" cannot be served: ${(error as Error).message}.`, { cause: error })
  }
}

/** Model lists have one form for Messages clients, one for those that show a key as their style does, and another for all others. */
export const modelList =
  (modelPaths: ModelPaths<Serve>) =>
  ({ url = '', headers }: IncomingMessage): ModelRoute<Serve> => {
    const rest = pathOf(url)
      .replace(/^\/(?:v1\/){0,2}models/, '')
      .replace(/\/$/, '')
    const style = modelPaths.styleOfKey(headers)
    const styles = style === undefined ? dialectsOf(styleOf('', headers)) : [style.id]
    return { style, serve: passthrough({ path: `/v1/models${rest}`, styles, method: 'GET' }) }
  }

/** Upstreams that speak one of these share what is not a request to a model. */
export const dialectsOf = (style: string): readonly string[] =>
  style === 'messages' ? ['messages'] : ['responses', 'chat_completions']

interface Declared {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly isGuarded: boolean
}

/**
 * Throws DUPLICATE with both names where two API styles serve one path: the framework and the table of patterns know neither.
 * What both let pass is served by the first: a style that is made of another one keeps such paths of it.
 */
const checkPaths = (styles: Registry<ApiStyle>, spellings: (path: string) => readonly string[]): void => {
  const taken = new Map<string, Declared>()
  for (const declared of [...styles].flatMap(pathsOf))
    for (const url of spellings(declared.path)) {
      // parameters of different names match the same paths
      const route = `${declared.method} ${url.replace(/\{\+?\w+\}/g, '{}')}`
      const other = taken.get(route)
      if (other !== undefined && clash(other, declared)) throw twice(styles, other, declared)
      taken.set(route, other ?? declared)
    }
}

const pathsOf = ({ id, paths, unguarded = [] }: ApiStyle): readonly Declared[] => [
  ...paths.map((path) => ({ id, method: 'POST', path, isGuarded: true })),
  ...unguarded.map((declared) => {
    const [method = '', path = ''] = declared.split(' ', 2)
    return { id, method, path, isGuarded: false }
  }),
]

const clash = (one: Declared, other: Declared): boolean => one.id !== other.id && (one.isGuarded || other.isGuarded)

const twice = (styles: Registry<ApiStyle>, { id: first }: Declared, { id, method, path }: Declared): GuardError =>
  new GuardError(
    'DUPLICATE',
    `The API styles "${first}", added by ${styles.ownerOf(first)}, and "${id}", added by ${styles.ownerOf(id)}, both serve ${method} ${path}. Give the one of your own another path.`,
  )
