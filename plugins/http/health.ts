import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Gateway } from 'guard-gateway/core'
import { readJson, Type } from '#lib/json'
import { hasScope, type Principal, requestPrincipals } from '#lib/principal'
import type { HttpServerState } from './http-server-state.ts'
import { routeSchema } from './route-schema.ts'

/** What `GET /api/health` answers: these, and one member for each feature that has something to say. */
export interface Health {
  /** `degraded`: some part says of itself that it is not well. */
  readonly status: 'ok' | 'degraded' | 'shutting_down'
  readonly version: string
  readonly uptime_seconds: number
  readonly plugins: readonly string[]
  readonly [section: string]: unknown
}

const visibleSections = routeSchema('Health and version data', {
  response: {
    200: Type.Object(
      {
        status: Type.String({ enum: ['ok', 'degraded', 'shutting_down'] }),
        version: Type.String(),
        uptime_seconds: Type.Integer(),
        plugins: Type.Array(Type.String()),
      },
      { additionalProperties: true },
    ),
  },
})

/** Serves the state of the gateway, from memory alone. */
export const healthRoute = (state: HttpServerState, app: FastifyInstance): void => {
  app.get('/api/health', { schema: visibleSections }, async ({ raw }) => {
    const health = healthOf(state)
    if (maySeeAll(state, requestPrincipals.get(raw))) return health
    const { status, version: known, uptime_seconds } = health
    return { status, version: known, uptime_seconds, plugins: [] }
  })
}

/** Beyond loopback the details are for those who read all projects. */
const maySeeAll = ({ isBeyondLoopback }: HttpServerState, principal: Principal | undefined): boolean =>
  principal === undefined ? !isBeyondLoopback : principal.projects === null && hasScope(principal, 'read')

const healthOf = ({ gateway, draining, inFlight, buffered }: HttpServerState): Health => {
  const sections = sectionsOf(gateway)
  const unwell = Object.values(sections).some((section) => !isWell(section))
  return {
    status: draining ? 'shutting_down' : unwell ? 'degraded' : 'ok',
    version: version(),
    uptime_seconds: Math.floor(process.uptime()),
    plugins: gateway.plugins(),
    ...sections,
    http: { in_flight: inFlight.size, buffered_bytes: buffered },
  }
}

const sectionsOf = (gateway: Gateway): Record<string, unknown> => {
  const sections: Record<string, unknown> = {}
  for (const [name, tell] of gateway.health) {
    try {
      sections[name] = plain(tell())
    } catch (error) {
      gateway.fault(error, `health:${name}`)
      sections[name] = { status: 'unknown' }
    }
  }
  return { storage: storageOf(gateway), ...sections }
}

const storageOf = ({ storage: { state, notes, journal_bytes } }: Gateway): Record<string, unknown> => ({
  status: state,
  ...(journal_bytes === undefined ? {} : { journal_bytes }),
  ...(notes.length === 0 ? {} : { notes }),
})

/** A section as JSON; throws for a value that has no JSON form. */
const plain = (section: unknown): unknown => {
  const text = JSON.stringify(section)
  return text === undefined ? undefined : JSON.parse(text)
}

const isWell = (section: unknown): boolean => {
  if (typeof section !== 'object' || section === null) return true
  const { status, notes } = section as { readonly status?: unknown; readonly notes?: unknown }
  return (status === undefined || status === 'ok') && notes === undefined
}

let known: string | undefined

/** The version of this package, read once. */
const version = (): string => {
  if (known === undefined) {
    const file = readJson(readFileSync(new URL(import.meta.resolve('guard-gateway/package.json')), 'utf8'))
    known = String(Reflect.get(file as object, 'version'))
  }
  return known
}
