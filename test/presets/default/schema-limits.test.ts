import { after, before, describe, it } from 'node:test'
import { configSchema } from '../../../presets/default/config/schema.ts'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { assertRecorded } from '../../kit/recorded.ts'

const LIMITS = new Set([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'pattern'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'additionalProperties'],
  ...['default', 'enum', 'const'],
])
/** They lead to what is below and name no place of their own. */
const STEPS = new Set(['properties', 'items', 'anyOf', 'schema', 'content', 'application/json'])
/** They hold values. */
const VALUES = new Set(['default', 'enum', 'const', 'example', 'examples', 'required'])

/** A line for each place of a schema that has limits or a default. */
const limitsOf = (schema: unknown, path: string): readonly string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const members = Object.entries(schema)
  const limits = members
    .filter(([name, value]) => LIMITS.has(name) && (typeof value !== 'object' || VALUES.has(name)))
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  const below = members
    .filter(([name]) => !VALUES.has(name))
    .flatMap(([name, value]) => limitsOf(value, STEPS.has(name) ? path : `${path}.${name}`))
  return [...(limits.length === 0 ? [] : [`${path}: ${limits.join(', ')}`]), ...below]
}

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: unknown }[]
  readonly requestBody?: unknown
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const limitsOfRoutes = ({ paths }: Description): readonly string[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters = [], requestBody }]) => [
      ...parameters.flatMap((one) => limitsOf(one.schema, `${method} ${path} ${one.in}.${one.name}`)),
      ...limitsOf(requestBody, `${method} ${path} body`),
    ]),
  )

describe('limits, defaults and errors, each as recorded', () => {
  let started: Started
  before(async () => {
    started = await startGateway()
  })
  after(() => started.close())

  it('status and type of errors', () => {
    const codes = [...started.gateway.errorCodes].map(({ id, status, type }) => `${id} ${status} ${type}`)
    assertRecorded('error-statuses.txt', codes.sort())
  })
  it('limits and defaults of a configuration', () => {
    assertRecorded('configuration-limits.txt', limitsOf(configSchema, 'guard-config.yml'))
  })
  it('limits and defaults of requests', async () => {
    const { json } = await started.request('GET', '/openapi.json')
    assertRecorded('request-limits.txt', limitsOfRoutes(json as Description))
  })
})
