import type { Scope } from '#lib/principal'

/** What a key must be for to use a route; `open`: anybody may. */
export type RouteScope = Scope | 'open'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a route that the table does not name, such as one of a plugin of your own. */
    scope?: RouteScope
  }
}

/** Routes by method and pattern; GET stands for HEAD too, and a final `*` for any rest. */
const table: Readonly<Record<RouteScope, readonly string[]>> = {
  open: [
    'HEAD /',
    'GET /api/hello',
    // without a key it tells the state alone
    'GET /api/health',
    'GET /livez',
    'GET /readyz',
    'GET /login',
    'POST /login',
    'POST /logout',
    'GET /ui/assets/*',
  ],
  models: [
    ...['', '/v1', '/v1/v1'].flatMap((base) => [
      `POST ${base}/chat/completions`,
      `POST ${base}/messages`,
      `POST ${base}/messages/count_tokens`,
      `POST ${base}/responses`,
      `POST ${base}/responses/compact`,
      `POST ${base}/responses/input_tokens`,
      `POST ${base}/conversations`,
      `GET ${base}/models`,
      `GET ${base}/models/*`,
    ]),
    'POST /api/chat',
    'POST /api/generate',
    'GET /api/tags',
    'GET /api/version',
    'GET /api/ps',
    'POST /api/show',
    'POST /api/embed',
    'POST /api/embeddings',
    'GET /v1beta/models',
    'GET /v1alpha/models',
  ],
  mcp: ['GET /mcp/:server_id', 'POST /mcp/:server_id', 'DELETE /mcp/:server_id', 'OPTIONS /mcp/:server_id'],
  ingest: [
    'POST /v1/traces',
    'POST /otel/v1/traces',
    'POST /v1/logs',
    'POST /v1/metrics',
    'POST /api/v1/traces',
    'POST /api/v1/spans',
    'POST /api/v1/events/batch',
    'POST /api/v1/runs/import',
    'POST /ui/runs/import',
  ],
  read: [
    'GET /',
    'GET /agents',
    'GET /agents/:id',
    'GET /approvals/:id',
    'GET /approvals/:id/rule',
    'GET /docs',
    'GET /docs/:operation',
    'GET /docs/guide',
    'GET /docs/guide/:page',
    'GET /drafts/:id',
    'GET /mcp',
    'GET /notify',
    'GET /playground',
    'GET /playground/runs/:id',
    'GET /policies',
    'GET /policies/:project_id',
    'GET /replay',
    'GET /replay/:trace_id',
    'GET /replay/compare',
    'GET /replay/import',
    'GET /search',
    'GET /sessions',
    'GET /sessions/:id',
    'GET /metrics',
    'GET /openapi.json',
    'GET /api/agent-runs/:id',
    'GET /api/agents',
    'GET /api/agents/:id',
    'GET /api/budgets',
    'GET /api/export/aggregates.csv',
    'GET /api/export/sessions/:id.json',
    'GET /api/instances',
    'GET /api/notify',
    'GET /api/policies',
    'GET /api/policies/:project_id',
    'POST /api/policies/:project_id/simulate',
    'GET /api/sessions',
    'GET /api/sessions/:id',
    'GET /api/sessions/:id/events',
    'GET /api/sessions/by-external/:external_id',
    'GET /api/export/trajectories',
    'POST /api/v1/compare',
    'GET /api/v1/figures',
    'GET /api/v1/mcp/approvals',
    'GET /api/v1/mcp/approvals/:id',
    'GET /api/v1/mcp/approvals/:id/rule',
    'GET /api/v1/mcp/draft',
    'GET /api/v1/mcp/events',
    'GET /api/v1/mcp/export',
    'POST /api/v1/mcp/policies/simulate',
    'POST /api/v1/mcp/policies/validate',
    'GET /api/v1/mcp/servers',
    'GET /api/v1/mcp/servers/:id/login',
    'GET /api/v1/playground/runs',
    'GET /api/v1/playground/runs/:id',
    'GET /api/v1/playground/scenarios',
    'GET /api/v1/prices',
    'GET /api/v1/prices/model',
    'GET /api/v1/report',
    'GET /api/v1/retention',
    'GET /api/v1/runs',
    'GET /api/v1/runs/:trace_id',
    'GET /api/v1/runs/:trace_id/export',
    'GET /api/v1/runs/:trace_id/rows',
    'GET /api/v1/runs/:trace_id/use',
    'GET /api/v1/stats',
    'GET /api/v1/stream',
    // these lead from a form that was reloaded to its page
    'GET /ui/*',
  ],
  operate: [
    'PATCH /api/sessions/:id',
    'POST /api/sessions/:id/pause',
    'POST /api/sessions/:id/resume',
    'POST /api/sessions/:id/end',
    'POST /api/agents/:id/pause',
    'POST /api/agents/:id/resume',
    'POST /api/v1/mcp/approvals/:id',
    'POST /api/v1/mcp/approvals/:id/rule',
    'POST /api/v1/mcp/approvals/:id/undo',
    'POST /api/v1/mcp/servers/:id/login',
    'POST /api/v1/mcp/servers/:id/login/finish',
    'POST /api/v1/mcp/servers/:id/logout',
    'POST /api/v1/mcp/servers/:id/pins',
    'POST /api/v1/runs/:trace_id/pin',
    'PATCH /api/v1/runs/:trace_id',
    'POST /ui/agents/:id/pause',
    'POST /ui/agents/:id/resume',
    'POST /ui/approvals/:id',
    'POST /ui/approvals/:id/rule',
    'POST /ui/approvals/:id/undo',
    'POST /ui/mcp/servers/:id/pins',
    'POST /ui/runs/:trace_id/failure-tag',
    'POST /ui/runs/:trace_id/pin',
    'POST /ui/runs/:trace_id/tags',
    'POST /ui/sessions/:id/end',
    'POST /ui/sessions/:id/name',
    'POST /ui/sessions/:id/pause',
    'POST /ui/sessions/:id/resume',
  ],
  admin: [
    'POST /api/agents',
    'POST /api/agents/:id/keys',
    'DELETE /api/agents/:id/keys/:key_id',
    'POST /api/demo/run',
    'GET /api/keys',
    'POST /api/keys',
    'DELETE /api/keys/:id',
    'POST /api/notify/test',
    'PUT /api/policies/:project_id',
    'DELETE /api/policies/:project_id',
    'GET /api/v1/audit',
    'POST /api/v1/playground/runs',
    'DELETE /api/v1/playground/runs/:id',
    'GET /audit',
    'GET /keys',
    'POST /ui/keys',
    'POST /ui/keys/:id/revoke',
    'POST /ui/notify/test',
    'POST /ui/playground/runs',
    'POST /ui/playground/runs/:id/cancel',
    'POST /ui/policies/:project_id',
  ],
}

/** Routes that tell of all projects together: a key that is bound to some cannot use them. */
const undivided: ReadonlySet<string> = new Set([
  'GET /metrics',
  'GET /api/v1/retention',
  'POST /api/demo/run',
  'POST /api/notify/test',
  'POST /api/v1/playground/runs',
  'POST /ui/notify/test',
  'POST /ui/playground/runs',
  'GET /api/v1/mcp/servers/:id/login',
  'POST /api/v1/mcp/servers/:id/login',
  'POST /api/v1/mcp/servers/:id/login/finish',
  'POST /api/v1/mcp/servers/:id/logout',
  'POST /api/v1/mcp/approvals/:id/rule',
  'POST /ui/approvals/:id/rule',
  'POST /api/v1/mcp/servers/:id/pins',
  'POST /ui/mcp/servers/:id/pins',
])

/** A route tells of all projects together. */
export const isUndivided = (methods: string | readonly string[], pattern: string): boolean =>
  [methods].flat().some((method) => undivided.has(`${method === 'HEAD' ? 'GET' : method} ${pattern}`))

const entries = Object.entries(table) as [RouteScope, readonly string[]][]
const exact = new Map(entries.flatMap(([scope, routes]) => routes.map((route) => [route, scope] as const)))
const prefixes = [...exact]
  .filter(([route]) => route.endsWith('*'))
  .map(([route, scope]) => [route.slice(0, -1), scope] as const)

/** All that the table names. */
export const classifiedRoutes: readonly string[] = [...exact.keys()]

/** What the table says of a route; undefined: it does not name it. */
export const classifiedScope = (method: string, pattern: string): RouteScope | undefined => {
  const path = pattern === '/' ? pattern : pattern.replace(/\/$/, '')
  const found = lookedUp(`${method} ${path}`)
  return found ?? (method === 'HEAD' ? lookedUp(`GET ${path}`) : undefined)
}

const lookedUp = (route: string): RouteScope | undefined =>
  exact.get(route) ?? prefixes.find(([prefix]) => route.startsWith(prefix))?.[1]

/** What a route needs: what the table says, else the route itself, else `admin`. Of several methods the strictest counts. */
export const scopeOf = (
  methods: string | readonly string[],
  pattern: string,
  own: RouteScope | undefined,
): RouteScope => {
  const found = [methods].flat().map((method) => classifiedScope(method, pattern) ?? own ?? 'admin')
  return strictness.findLast((scope) => found.includes(scope)) ?? 'admin'
}

const strictness: readonly RouteScope[] = ['open', 'models', 'mcp', 'ingest', 'read', 'operate', 'admin']
