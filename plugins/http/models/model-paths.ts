import type { IncomingMessage } from 'node:http'
import type { ApiStyle } from 'guard-gateway/core'
import { isIdSegment, type PathPattern, pathPattern, type RequestTarget } from '#lib/api-style'
import { classOf, type RouteClass } from '../admission/route-class.ts'
import {
  AMBIGUOUS,
  decodedPath,
  EDGES,
  encodedFixedPart,
  literalPath,
  pathOf,
  refuseEncodedPlain,
} from '../admission/target.ts'

/** How requests to one path of a style are served. */
export interface ModelRoute<Serve> {
  /** Undefined where no style declares the path. */
  readonly style: ApiStyle | undefined
  readonly serve: Serve
}

/** Finds what serves a request at one path. */
export type Choose<Serve> = (request: IncomingMessage) => ModelRoute<Serve>

/** The methods of what a style lets pass. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** A path without parameters, in all its spellings. */
export interface DeclaredPath<Serve> {
  readonly method: (typeof METHODS)[number] | 'HEAD'
  /** Canonical. */
  readonly path: string
  readonly urls: readonly string[]
  readonly kind: 'guarded' | 'unguarded' | 'list'
  /** Undefined for lists, which belong to all. */
  readonly style?: ApiStyle
  readonly choose: Choose<Serve>
}

/** A path with parameters: what serves it depends on what they stand for. */
interface ParameterRoute<Serve> {
  readonly method: string
  readonly pattern: PathPattern
  readonly style: ApiStyle
  readonly isGuarded: boolean
  readonly serve: (target: RequestTarget) => Serve
}

/** A segment that another server could resolve. */
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/
/** Headers for keys that clients of several dialects send. */
const COMMON: ReadonlySet<string> = new Set(['authorization', 'x-api-key'])
/** Shared by several dialects, so that a path says nothing by it. */
const SHARED = '/v1/'

/** The paths that API styles declare. Those without parameters are looked up; patterns are tried where nothing else matches. */
export class ModelPaths<Serve> {
  readonly #declared: DeclaredPath<Serve>[] = []
  /** What serves a POST, by its path. */
  readonly #posts = new Map<string, Choose<Serve>>()
  /** What serves another method, by method and path. */
  readonly #others = new Map<string, Choose<Serve>>()
  readonly #styles = new Map<string, ApiStyle>()
  readonly #patterns: ParameterRoute<Serve>[] = []
  /** The guarded ones in lower case. */
  readonly #judged: PathPattern[] = []
  /** The styles with a header of their own for keys. */
  readonly #keyed: ApiStyle[] = []

  /** Adds a style before its paths. */
  addStyle(style: ApiStyle): void {
    if (style.credential !== undefined && !COMMON.has(style.credential.header)) this.#keyed.push(style)
  }

  /** The paths without parameters. */
  get declared(): readonly DeclaredPath<Serve>[] {
    return this.#declared
  }

  add(declared: DeclaredPath<Serve>): void {
    this.#declared.push(declared)
    const { method, urls, style, choose } = declared
    for (const url of urls) {
      if (method === 'POST') this.#posts.set(url, choose)
      else this.#others.set(`${method} ${url}`, choose)
      if (style !== undefined) this.#styles.set(url, style)
    }
  }

  addPattern(route: Omit<ParameterRoute<Serve>, 'pattern'>, pattern: PathPattern): void {
    this.#patterns.push({ ...route, pattern })
    if (route.isGuarded) this.#judged.push(pathPattern(pattern.pattern.toLowerCase()))
    // a path that is judged is found first, however wide the others are
    this.#patterns.sort((left, right) => Number(right.isGuarded) - Number(left.isGuarded))
  }

  /** What serves a request that needs no framework to be matched: its path is spelled as a declared one, or matches a guarded pattern. */
  serving(request: IncomingMessage): ModelRoute<Serve> | undefined {
    const { method = '', url = '' } = request
    const path = pathOf(url)
    if (method !== 'POST') return this.#others.get(`${method} ${path}`)?.(request)
    return (
      this.#posts.get(path)?.(request) ?? (this.#patterns.length === 0 ? undefined : this.match('POST', path, true))
    )
  }

  /** What serves a path that matches a pattern, as it came. */
  match(method: string, path: string, onlyGuarded = false): ModelRoute<Serve> | undefined {
    const decoded = decodedPath(path)
    const expected = servedAs(method)
    for (const { method: own, pattern, style, isGuarded, serve } of this.#patterns) {
      if ((onlyGuarded && !isGuarded) || own !== expected || !decoded.startsWith(pattern.prefix)) continue
      const params = pattern.match(decoded)
      if (params === undefined || holds(params, DOTS)) continue
      // some providers let a header say another method
      if (!isGuarded && (holds(params, AMBIGUOUS) || holds(params, EDGES) || this.isSpelling(decoded))) continue
      return { style, serve: serve({ path, params }) }
    }
  }

  /**
   * Refuses a path as it came whose fixed part encodes what stands for itself: an upstream could read another path than was judged here.
   * Parameters and ids may hold any encoding. Throws ENCODED_PATH.
   */
  refuseEncoding(path: string): void {
    if (!path.includes('%')) return
    const shape = this.#shapeOf(decodedPath(path))
    const literalShape = this.#shapeOf(literalPath(path))
    if (shape !== literalShape) throw encodedFixedPart()
    if (shape !== undefined) return
    const segments = path.split('/')
    for (const [index, segment] of segments.entries())
      if (!isIdSegment(segments[index - 1])) refuseEncodedPlain(segment)
  }

  /** What a path is matched by: itself, or the first pattern. */
  #shapeOf(path: string): string | undefined {
    if (this.has(path)) return path
    return this.#patterns.find(({ pattern }) => pattern.match(path) !== undefined)?.pattern.pattern
  }

  /** The class of a route of the framework. */
  classOfRoute(methods: string | readonly string[], url: string): RouteClass {
    return [methods].flat().some((method) => this.declares(method, url)) ? 'model' : classOf(url)
  }

  /** This path is served, which has no parameters. */
  declares(method: string, url: string): boolean {
    return method === 'POST' ? this.#posts.has(url) : this.#others.has(`${method} ${url}`)
  }

  /** Some method is served at this path, which has no parameters. */
  has(url: string): boolean {
    return this.#declared.some(({ urls }) => urls.includes(url))
  }

  /** The methods of the patterns that a decoded path matches. */
  methodsAt(path: string): readonly string[] {
    const found = this.#patterns.filter(({ pattern }) => pattern.match(path) !== undefined)
    return found.filter(({ isGuarded }) => isGuarded || !found[0]?.isGuarded).map(({ method }) => method)
  }

  /** Whether a server that overlooks case would see a path that is judged. */
  isSpelling(path: string): boolean {
    return this.#judged.some(({ match }) => match(path.toLowerCase()) !== undefined)
  }

  /** What the patterns begin with, for a host application that passes such paths on. */
  get prefixes(): readonly string[] {
    return [...new Set(this.#patterns.map(({ pattern }) => pattern.prefix))]
  }

  /** The style that a decoded path belongs to: it declares it, or paths that begin so. */
  styleAt(path: string): ApiStyle | undefined {
    const found = this.#styles.get(path) ?? this.#patterns.find(({ pattern }) => pattern.match(path))?.style
    if (found !== undefined || classOf(path) !== 'page') return found
    return this.#patterns.find(({ pattern: { prefix } }) => prefix !== SHARED && isBelow(path, prefix))?.style
  }

  /** What precedes the parameters of a decoded path; empty for a path without any. */
  prefixAt(path: string): string {
    if (this.#styles.has(path)) return ''
    return this.#patterns.find(({ pattern }) => pattern.match(path) !== undefined)?.pattern.prefix ?? ''
  }

  /** The style that has a header of its own for keys, if this request shows one there: on a path that several share it tells them apart. */
  styleOfKey(headers: Readonly<Record<string, unknown>>): ApiStyle | undefined {
    return this.#keyed.find(({ credential }) => credential !== undefined && headers[credential.header] !== undefined)
  }

  /** The class of a decoded path. */
  kindOf(path: string): RouteClass {
    return this.styleAt(path) === undefined ? classOf(path) : 'model'
  }
}

/** HEAD is served wherever GET is. */
const servedAs = (method: string): string => (method === 'HEAD' ? 'GET' : method)

const holds = (params: Readonly<Record<string, string>>, what: RegExp): boolean =>
  Object.values(params).some((value) => what.test(value))

/** A prefix of a whole segment or more. */
const isBelow = (path: string, prefix: string): boolean => /^\/[^/]+\//.test(prefix) && path.startsWith(prefix)
