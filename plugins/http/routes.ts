import type { Ajv, ValidateFunction } from 'ajv'
import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'
import { Type } from '#lib/json'
import { healthRoute } from './health.ts'
import type { HttpServerState } from './http-server-state.ts'
import { lazySerializers } from './lazy-serializers.ts'
import { modelRoutes } from './models/routes.ts'
import { addPanels } from './page/index.ts'
import { readiness } from './probes.ts'
import { routeSchema } from './route-schema.ts'

/** Adds the routes of the server itself, and how all routes validate. */
export const addRoutes = async (state: HttpServerState, app: FastifyInstance): Promise<void> => {
  await strictValidation(app)
  healthRoute(state, app)
  if (state.isAlone) probeRoutes(state, app)
  modelRoutes(state, app)
  addPanels(state)
}

const Probed = Type.Object({ status: Type.String({ enum: ['ok', 'unavailable'] }) })

const liveSchema = routeSchema('Whether the process is up, for orchestrators', { response: { 200: Probed } })
const readySchema = routeSchema('Whether requests can be served, for load balancers', {
  response: { 200: Probed, 503: Probed },
})

/** Adds the probes of orchestrators and load balancers to the framework, which describes them and matches unusual spellings. */
const probeRoutes = (state: HttpServerState, app: FastifyInstance): void => {
  app.get('/livez', { schema: liveSchema }, async () => ({ status: 'ok' }))
  app.get('/readyz', { schema: readySchema }, async (_request, reply) => {
    const { status, body } = readiness(state)
    return reply.code(status).send(body)
  })
}

/**
 * Bodies are taken as they are: nothing is converted or dropped in silence. Queries and parameters are text, so scalars are read from it.
 * A schema is compiled when it is first needed: most routes are never asked, and a start need not wait for all of them.
 */
export const strictValidation = async (app: FastifyInstance): Promise<void> => {
  const { bodies, texts, serializers } = await compilers()
  app.setValidatorCompiler<object>(({ schema, httpPart }) => {
    const compile = httpPart === 'body' ? bodies : texts
    let compiled: ValidateFunction | undefined
    const validate = (value: unknown): boolean => {
      compiled ??= compile(schema)
      if (httpPart === 'querystring') rejectLooseIntegers(schema, value as Record<string, unknown>)
      const valid = compiled(value)
      result.errors = compiled.errors
      return valid
    }
    const result: typeof validate & { errors?: ValidateFunction['errors'] } = validate
    return result as never
  })
  app.setSerializerCompiler(lazySerializers(serializers))
}

const INTEGER = /^\d{1,15}$/

/** Makes texts that only JavaScript takes for integers, such as 1e1 or +5, ones that no coercion takes. */
const rejectLooseIntegers = (schema: { readonly properties?: object }, query: Record<string, unknown>): void => {
  for (const [name, { type }] of Object.entries(schema.properties ?? {}) as [string, { type?: unknown }][]) {
    const text = query[name]
    if (type === 'integer' && typeof text === 'string' && !INTEGER.test(text)) query[name] = 'no integer'
  }
}

interface Compilers {
  readonly bodies: (schema: object) => ValidateFunction
  readonly texts: (schema: object) => ValidateFunction
  readonly serializers: FastifySerializerCompiler<object>
}

let made: Promise<Compilers> | undefined

/** One set for the process: the gateways in it have their routes, and with them their schemas, in common. */
const compilers = (): Promise<Compilers> => {
  made ??= makeCompilers()
  return made
}

const makeCompilers = async (): Promise<Compilers> => {
  const [{ Ajv }, { SerializerSelector }] = await Promise.all([
    import('ajv'),
    import('@fastify/fast-json-stringify-compiler'),
  ])
  const common = {
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowUnionTypes: true,
    useDefaults: true,
    removeAdditional: false,
  } as const
  return {
    bodies: validators(new Ajv({ ...common, coerceTypes: false, verbose: true })),
    texts: validators(new Ajv({ ...common, coerceTypes: true })),
    serializers: SerializerSelector()({}, {}) as FastifySerializerCompiler<object>,
  }
}

/** Compiles each schema once, and keeps what came of it as long as the schema lives. */
const validators = (ajv: Ajv): ((schema: object) => ValidateFunction) => {
  const known = new WeakMap<object, ValidateFunction>()
  return (schema) => {
    const before = known.get(schema)
    if (before !== undefined) return before
    const compiled = ajv.compile(schema)
    // Ajv would keep the schema itself, and refuse another with the same $id
    ajv.removeSchema(schema)
    known.set(schema, compiled)
    return compiled
  }
}
