import type { SwaggerTransform, SwaggerTransformObject } from '@fastify/swagger'
import type { TSchema } from 'typebox'
import { Type } from '#lib/json'
import { meanings } from './field-meanings.ts'

const info = (version: string) => ({
  title: 'Guard Gateway',
  version,
  description:
    'A local gateway between coding agents and the models and MCP tools they use. On loopback administration needs no key; beyond it, one with the scope of the route. ' +
    'Times in nanoseconds are integers beyond 2^53: read them with a parser that keeps such numbers exact.',
})

/** Operation groups in display order, with the pattern of their paths. */
const groups: readonly (readonly [name: string, description: string, paths: RegExp])[] = [
  [
    'model proxy',
    'Model requests, judged by the rules and forwarded. They need the gateway key.',
    /^\/(?:v1(?:alpha|beta)?\/(?!traces)|api\/(?:chat|generate|tags|version|ps|show|embed\w*)$|$)/,
  ],
  ['sessions', 'Sessions and their decisions.', /^\/api\/(?:sessions|export)/],
  ['agents', 'Agents and their keys.', /^\/api\/agents/],
  ['policies', 'Rules of each project.', /^\/api\/policies/],
  ['access', 'Keys with scopes, and who did what.', /^\/api\/(?:keys|v1\/audit)/],
  ['replay', 'Runs with their spans and events.', /^\/(?:api\/v1\/(?!mcp|playground)|v1\/traces)/],
  ['mcp', 'The permission proxy: servers, approvals, audit, transport.', /^\/(?:api\/v1\/mcp|mcp)\//],
  ['playground', 'Scenarios that run through the whole gateway without a provider.', /^\/api\/(?:v1\/playground|demo)/],
  ['notifications', 'Who is told of what happens.', /^\/api\/notify/],
  ['health', 'State and figures of the gateway.', /^\/(?:api\/(?:health|instances)|livez|readyz|metrics)/],
]

const groupOf = (path: string): string => groups.find(([, , paths]) => paths.test(path))?.[0] ?? 'other'

/** Error response of every operation. */
const errorResponse = {
  description: 'Error: the status tells the kind, `error.code` the reason; see `guard explain <code>`.',
  content: {
    'application/json': {
      schema: Type.Object({
        error: Type.Object(
          { type: Type.String(), code: Type.String(), message: Type.String() },
          { additionalProperties: true },
        ),
      }),
    },
  },
}

/** A route schema with the additional fields of the description. */
interface RouteSchema {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly hide?: boolean
  readonly response?: Readonly<Record<string, TSchema | object>>
}

/** Hides internal routes, and adds the group and the error response to all others. */
export const describeRoute: SwaggerTransform = ({ schema, url }) => {
  const route = (schema ?? {}) as RouteSchema
  if (route.hide === true) return { schema: { hide: true }, url }
  const { tags = [groupOf(url)], response = {} } = route
  const errorResponses = Object.keys(response).some((status) => /^(?:4xx|default)$/i.test(status))
    ? {}
    : { default: errorResponse }
  const success = Object.keys(response).length === 0 ? { 200: { description: 'Success.' } } : {}
  return { schema: { ...route, tags, response: { ...success, ...response, ...errorResponses } } as object, url }
}

/** OpenAPI 3.1 document without paths. */
export const documentFrame = (version: string) => ({
  openapi: '3.1.0' as const,
  info: info(version),
  servers: [{ url: '/', description: 'This gateway' }],
  tags: groups.map(([name, description]) => ({ name, description })),
  components: {
    securitySchemes: {
      gateway_key: {
        type: 'http' as const,
        scheme: 'bearer',
        description:
          'The gateway key, or the key of an agent; as x-guard-key where the client sends a login of its own here.',
      },
      x_api_key: {
        type: 'apiKey' as const,
        name: 'x-api-key',
        in: 'header',
        description: 'The same key, as Messages clients send it.',
      },
    },
  },
})

type Content = Record<string, { schema?: TSchema }>
type Operation = {
  parameters?: {
    readonly name?: string
    readonly in?: string
    required?: boolean
    description?: string
    readonly schema?: { readonly default?: unknown; readonly description?: string }
  }[]
  requestBody?: { required?: boolean; content?: Content }
  responses?: Readonly<Record<string, { readonly content?: Content }>>
}

/** A nullable body is optional. */
const isNullable = (body: Operation['requestBody']): boolean =>
  Object.values(body?.content ?? {}).some(({ schema }) => {
    const { anyOf } = (schema ?? {}) as { readonly anyOf?: readonly { readonly type?: unknown }[] }
    return anyOf?.some(({ type }) => type === 'null') === true
  })

/** Adds paths that are no routes, marks as optional nullable bodies and parameters with a default, and says what fields mean that say nothing themselves. */
export const completed =
  (more: () => object): SwaggerTransformObject =>
  (generated) => {
    const described = 'openapiObject' in generated ? generated.openapiObject : {}
    const document = { ...described, paths: { ...described.paths, ...more() } }
    const paths: readonly (object | undefined)[] = Object.values(document.paths ?? {})
    for (const operation of paths.flatMap((path = {}) => Object.values<Operation>({ ...path }))) {
      markOptional(operation)
      describeOperation(operation)
    }
    return document
  }

const describeOperation = ({ parameters = [], requestBody, responses = {} }: Operation): void => {
  for (const parameter of parameters) {
    const meaning = parameter.schema?.description ?? parameterMeaning(parameter.name ?? '')
    if (meaning !== undefined) parameter.description ??= meaning
  }
  for (const { content = {} } of [requestBody ?? {}, ...Object.values(responses)])
    for (const body of Object.values(content)) body.schema = describeFields(body.schema) as TSchema
}

const markOptional = ({ parameters = [], requestBody }: Operation): void => {
  if (requestBody !== undefined && isNullable(requestBody)) requestBody.required = false
  for (const parameter of parameters) if (parameter.schema?.default !== undefined) parameter.required = false
}

type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Meaning of a field; a meaning below `parent` comes first. Undefined if there is none. */
const meaningOf = (name: string, parent: string): string | undefined => {
  const key = [`${parent}.${name}`, name].find((one) => Object.hasOwn(meanings, one))
  return key === undefined ? undefined : meanings[key]
}

const alternativesOf = (schema: Node): readonly unknown[] =>
  [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []))

/** What a schema or one of its alternatives says. */
const ownDescription = (schema: unknown): string | undefined => {
  if (!isNode(schema)) return undefined
  if (typeof schema.description === 'string') return schema.description
  return alternativesOf(schema)
    .map(ownDescription)
    .find((text) => text !== undefined)
}

/** A copy of a schema in which fields without a description have their meaning. `parent`: the member that it belongs to. */
export const describeFields = (schema: unknown, parent = ''): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => describeFields(one, parent))
  if (!isNode(schema)) return schema
  const copy: Record<string, unknown> = { ...schema }
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'items', 'additionalProperties'])
    if (keyword in schema) copy[keyword] = describeFields(schema[keyword], parent)
  if (isNode(schema.properties))
    copy.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, described(member, name, parent)]),
    )
  return copy
}

const described = (member: unknown, name: string, parent: string): unknown => {
  const copy = describeFields(member, name)
  if (!isNode(copy)) return copy
  const description = ownDescription(copy) ?? meaningOf(name, parent)
  return description === undefined ? copy : { ...copy, description }
}

/** The meaning of a parameter that says nothing itself. */
const parameterMeaning = (name: string): string | undefined => meaningOf(name, '')
