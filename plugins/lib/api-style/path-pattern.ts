import type { ApiStyle } from 'guard-gateway/core'

/** Where a request was sent: the path as it came, and what its parameters stand for, percent-decoded. */
export type RequestTarget = Parameters<ApiStyle['envelope']>[1]

/** A path with parameters, or without one. */
export interface PathPattern {
  readonly pattern: string
  /** All before the first parameter; the pattern itself if there is none. */
  readonly prefix: string
  readonly hasParams: boolean
  /** What the parameters stand for in a decoded path; undefined for another path. */
  match(path: string): Readonly<Record<string, string>> | undefined
}

const PARAMETER = /\{(\+?)([A-Za-z]\w*)\}/g
/** A longer path names nothing. */
const MAX_PATH_CHARS = 4096

/** Whole segments, none of them empty. */
const SEGMENTS = '([^/]+(?:/[^/]+)*)'
const PIECE = '([^/]+)'

/**
 * Compiles a path of an API style: `{name}` stands for a piece of one segment, and `{+name}`, of which a path has at most one, for segments with their slashes.
 * Throws TypeError for a path that does not begin with `/`, or that can be taken apart in more than one way.
 */
export const pathPattern = (pattern: string): PathPattern => {
  if (!pattern.startsWith('/')) throw new TypeError(`the path "${pattern}" does not begin with "/"`)
  const first = pattern.indexOf('{')
  if (first === -1) return { pattern, prefix: pattern, hasParams: false, match: (path) => whole(path, pattern) }
  const names: string[] = []
  const source = pattern.replace(/[$()*.?[\\\]^|]/g, '\\$&').replace(PARAMETER, (_all, many: string, name: string) => {
    names.push(name)
    return many === '' ? PIECE : SEGMENTS
  })
  check(pattern, names)
  const expression = new RegExp(`^${source}$`)
  return {
    pattern,
    prefix: pattern.slice(0, first),
    hasParams: true,
    match: (path) => {
      const found = path.length > MAX_PATH_CHARS ? null : expression.exec(path)
      return found === null ? undefined : Object.fromEntries(names.map((name, index) => [name, found[index + 1] ?? '']))
    },
  }
}

const check = (pattern: string, names: readonly string[]): void => {
  const rest = pattern.replace(PARAMETER, '')
  if (/[{}+]/.test(rest)) throw new TypeError(`the path "${pattern}" has a parameter that is not {name} or {+name}`)
  if (/\}\{/.test(pattern) || pattern.split('{+').length > 2 || new Set(names).size < names.length)
    throw new TypeError(`the path "${pattern}" can be taken apart in more than one way`)
}

const NO_PARAMS = Object.freeze({})

const whole = (path: string, pattern: string): Readonly<Record<string, string>> | undefined =>
  path === pattern ? NO_PARAMS : undefined

/** The target of a request that names none: the first path of the style, its parameters as they are written there. */
export const targetOf = ({ paths: [path = '/'] }: Pick<ApiStyle, 'paths'>): RequestTarget => ({
  path,
  params: pathPattern(path).match(path) ?? NO_PARAMS,
})
