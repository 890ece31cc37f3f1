/** What a route is for, and so who may call it: with a key, from which web origins. */
export type RouteClass = 'health' | 'probe' | 'model' | 'receiver' | 'transport' | 'management' | 'local' | 'page'

const aliases = /^\/(?:messages|responses|chat\/completions|models)(?:\/|$)/
const local = /^\/(?:api|metrics|openapi\.json)(?:\/|$)/

/** The class of a decoded path or of a route's pattern. */
export const classOf = (path: string): RouteClass => {
  if (path === '/livez' || path === '/readyz') return 'health'
  if (path === '/api/hello') return 'probe'
  if (/^(?:\/v1\/(?:traces|logs|metrics)\/?|\/otel\/v1\/traces)$/.test(path)) return 'receiver'
  if (/^\/v1(?:\/|$)/.test(path) || aliases.test(path)) return 'model'
  if (/^\/mcp\/./.test(path)) return 'transport'
  if (/^\/api\/v1\/mcp(?:\/|$)/.test(path)) return 'management'
  return local.test(path) ? 'local' : 'page'
}

/** Callers of these show a key; they are programs, and their answers are not meant for browsers. */
export const needsKey = (kind: RouteClass): boolean => kind === 'model' || kind === 'receiver' || kind === 'transport'
