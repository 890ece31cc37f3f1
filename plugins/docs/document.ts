import type { SwaggerTransform, SwaggerTransformObject } from '@fastify/swagger'
import { type TSchema, Type } from 'typebox'

const info = (version: string) => ({
  title: 'Guard Gateway',
  version,
  description:
    'A local gateway between coding agents and the models and MCP tools they use. Everything here is meant for loopback. ' +
    'Times in nanoseconds are integers beyond 2^53: read them with a parser that keeps such numbers exact.',
})

/** The groups of operations, in the order in which they are shown, and the paths that belong to each. */
const groups: readonly (readonly [name: string, description: string, paths: RegExp])[] = [
  [
    'model proxy',
    'Model requests, judged by the rules and forwarded. They need the gateway key.',
    /^\/(?:v1\/(?!traces)|$)/,
  ],
  ['sessions', 'Sessions and their decisions.', /^\/api\/(?:sessions|export)/],
  ['agents', 'Agents and their keys.', /^\/api\/agents/],
  ['policies', 'Rules of each project.', /^\/api\/policies/],
  ['replay', 'Runs with their spans and events.', /^\/(?:api\/v1\/(?!mcp|playground)|v1\/traces)/],
  ['mcp', 'The permission proxy: servers, approvals, audit, transport.', /^\/(?:api\/v1\/mcp|mcp)\//],
  ['playground', 'Scenarios that run through the whole gateway without a provider.', /^\/api\/(?:v1\/playground|demo)/],
  ['health', 'State and figures of the gateway.', /^\/(?:api\/health|metrics)/],
]

const groupOf = (path: string): string => groups.find(([, , paths]) => paths.test(path))?.[0] ?? 'other'

/** What every operation answers when it refuses. */
const refusal = {
  description: 'Refused: the status tells the kind, `error.code` the reason; see `guard explain <code>`.',
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

/** A schema as a route gives it, with what the description takes beside validation. */
interface Described {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly hide?: boolean
  readonly response?: Readonly<Record<string, TSchema | object>>
}

/** Leaves out what is hidden, and says of the rest what holds for all: its group, and how it refuses. */
export const described: SwaggerTransform = ({ schema, url }) => {
  const given = (schema ?? {}) as Described
  if (given.hide === true) return { schema: { hide: true }, url }
  const { tags = [groupOf(url)], response = {} } = given
  const refusals = Object.keys(response).some((status) => /^(?:4xx|default)$/i.test(status)) ? {} : { default: refusal }
  const done = Object.keys(response).length === 0 ? { 200: { description: 'Done.' } } : {}
  return { schema: { ...given, tags, response: { ...done, ...response, ...refusals } } as object, url }
}

/** The frame that the routes are put into: OpenAPI 3.1. */
export const frame = (version: string) => ({
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

type Operation = {
  parameters?: { readonly in?: string; required?: boolean; readonly schema?: { readonly default?: unknown } }[]
  requestBody?: { required?: boolean; content?: Readonly<Record<string, { readonly schema?: TSchema }>> }
}

/** A body that may also be null may be absent. */
const mayBeAbsent = (body: Operation['requestBody']): boolean =>
  Object.values(body?.content ?? {}).some(({ schema }) => {
    const { anyOf } = (schema ?? {}) as { readonly anyOf?: readonly { readonly type?: unknown }[] }
    return anyOf?.some(({ type }) => type === 'null') === true
  })

/** Says what a client may leave out: bodies where routes take none for null, and parameters that have a default. */
export const withOptionalParts: SwaggerTransformObject = (found) => {
  const document = 'openapiObject' in found ? found.openapiObject : {}
  const paths: readonly (object | undefined)[] = Object.values(document.paths ?? {})
  for (const operation of paths.flatMap((path = {}) => Object.values<Operation>({ ...path }))) leaveOut(operation)
  return document
}

const leaveOut = ({ parameters = [], requestBody }: Operation): void => {
  if (requestBody !== undefined && mayBeAbsent(requestBody)) requestBody.required = false
  for (const parameter of parameters) if (parameter.schema?.default !== undefined) parameter.required = false
}
