import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Plugin } from 'guard-gateway/core'
import { type Started, startGateway } from '../../kit.ts'

interface Media {
  readonly schema?: object
  readonly example?: object
}
interface Body {
  readonly required?: boolean
  readonly description?: string
  readonly content?: Readonly<Record<string, Media>>
}
interface Operation {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly security?: readonly object[]
  readonly requestBody?: Body
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: object }[]
  readonly responses: Readonly<Record<string, Body>>
}
interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly tags: readonly { readonly name: string }[]
}

/** Adds a route that is told and one that is not, as a plugin of a user does. */
const greeter: Plugin = {
  name: 'greeter',
  apply(gateway) {
    gateway.hooks.http.tap('greeter', (app) => {
      app.get('/api/greetings', { schema: { summary: 'Greet' } as object }, async () => ({ hello: true }))
      app.get('/api/plain', async () => ({ plain: true }))
      app.get('/api/secret', { schema: { hide: true } as object }, async () => ({ hello: false }))
    })
  },
}

let started: Started
let document: Document
before(async () => {
  started = await startGateway({ plugins: [greeter] })
  const { status, headers, json } = await started.request('GET', '/openapi.json')
  assert.equal(status, 200)
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  document = json as Document
})
after(() => started.close())

const operation = (line: string): Operation => {
  const [method = '', path = ''] = line.split(' ')
  const found = document.paths[path]?.[method.toLowerCase()]
  assert.ok(found, `${line} is not described`)
  return found
}

const schemasOf = (body: Body | undefined): readonly object[] =>
  Object.values(body?.content ?? {}).flatMap(({ schema }) => (schema === undefined ? [] : [schema]))

/** Every path of the specification: with a body that is sent (B), with an answer that has a body (A). */
const specified = `
POST /v1/responses BA
POST /v1/chat/completions BA
GET /v1/models A
POST /v1/messages BA
POST /v1/messages/count_tokens BA
HEAD / -
GET /api/health A
GET /api/sessions A
GET /api/sessions/{id} A
PATCH /api/sessions/{id} BA
GET /api/sessions/{id}/events A
POST /api/sessions/{id}/pause A
POST /api/sessions/{id}/resume A
GET /api/policies/{project_id} A
PUT /api/policies/{project_id} BA
GET /api/agents A
POST /api/agents BA
POST /api/agents/{id}/pause A
POST /api/agents/{id}/resume A
POST /api/demo/run A
GET /api/export/sessions/{id}.json A
GET /api/export/aggregates.csv A
POST /api/v1/traces BA
POST /api/v1/spans BA
POST /api/v1/events/batch BA
GET /api/v1/figures A
GET /api/v1/runs A
GET /api/v1/runs/{trace_id} A
GET /api/v1/runs/{trace_id}/export A
POST /api/v1/runs/import BA
POST /api/v1/runs/{trace_id}/pin BA
POST /api/v1/compare BA
POST /mcp/{server_id} BA
GET /mcp/{server_id} A
DELETE /mcp/{server_id} -
GET /api/v1/mcp/servers A
GET /api/v1/mcp/events A
GET /api/v1/mcp/approvals A
POST /api/v1/mcp/approvals/{id} BA
POST /api/v1/mcp/policies/validate BA
GET /api/v1/mcp/export A
GET /api/v1/playground/scenarios A
POST /api/v1/playground/runs BA
GET /api/v1/playground/runs/{id} A
`
  .trim()
  .split('\n')

describe('4.2 to 4.6: every path is described from its schemas', () => {
  for (const line of specified) {
    it(line, () => {
      const { summary, tags, requestBody, responses } = operation(line)
      assert.ok((summary ?? '').length > 5)
      assert.equal(tags?.length, 1)
      assert.ok(document.tags.some(({ name }) => name === tags?.[0]))
      const marks = line.split(' ').at(-1) ?? ''
      if (marks.includes('B')) assert.ok(schemasOf(requestBody).length > 0, 'no request schema')
      const good = Object.keys(responses).filter((status) => /^2/.test(status))
      assert.ok(good.length > 0)
      if (marks.includes('A'))
        assert.ok(
          good.some((status) => schemasOf(responses[status]).length > 0),
          'no reply schema',
        )
      if (!line.startsWith('HEAD'))
        assert.ok(
          Object.keys(responses).some((status) => /^(?:4|default)/.test(status)),
          'does not say how it refuses',
        )
    })
  }
})

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    assert.match(document.openapi, /^3\.1\./)
    const file = join(import.meta.dirname, '../../data/openapi-3.1.schema.json')
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
    const valid = ajv.compile(JSON.parse(await readFile(file, 'utf8')) as object)
    assert.ok(valid(document), JSON.stringify(valid.errors?.slice(0, 3)))
  })

  it('contains valid JSON schemas', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const schemas = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.values(operations).flatMap(({ parameters = [], requestBody, responses }) =>
        [
          ...parameters.flatMap(({ schema }) => (schema === undefined ? [] : [schema])),
          ...[requestBody, ...Object.values(responses)].flatMap(schemasOf),
        ].map((schema) => [path, schema] as const),
      ),
    )
    assert.ok(schemas.length > 100)
    for (const [path, schema] of schemas) {
      assert.ok(ajv.validateSchema(schema), `${path}: ${ajv.errorsText()}`)
      assert.doesNotMatch(JSON.stringify(schema), /"\$ref"/, `${path} refers to what is not there`)
    }
  })

  it('lists each path parameter', () => {
    for (const [path, operations] of Object.entries(document.paths))
      for (const { parameters = [] } of Object.values(operations)) {
        const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
        assert.deepEqual(
          parameters.filter((one) => one.in === 'path').map(({ name }) => name),
          names,
          path,
        )
      }
  })

  it('includes routes of plugins, except hidden ones', () => {
    assert.equal(operation('GET /api/greetings').summary, 'Greet')
    assert.ok(operation('GET /api/plain').responses['200'])
    assert.equal(document.paths['/api/secret'], undefined)
  })

  it('has one spelling of each model path, and no pages, forms or assets', () => {
    const paths = Object.keys(document.paths)
    const known = /^\/($|(api|v1(alpha|beta1?)?|mcp)\/|metrics$|\w+z$)/
    assert.ok(paths.every((path) => known.test(path)))
    assert.deepEqual(
      paths.filter((path) => /\/v1\/v1|\/$/.test(path)),
      ['/'],
    )
  })

  it('states where a key is required', () => {
    for (const line of ['POST /v1/messages', 'GET /v1/models', 'POST /mcp/{server_id}', 'POST /v1/traces'])
      assert.deepEqual(operation(line).security, [{ gateway_key: [] }, { x_api_key: [] }], line)
    for (const line of ['GET /api/health', 'POST /api/v1/traces', 'HEAD /'])
      assert.equal(operation(line).security, undefined, line)
  })

  it('has examples of model requests that their API style accepts', () => {
    const shown = (path: string) => operation(`POST ${path}`).requestBody?.content?.['application/json']?.example
    const messages = [{ role: 'user', content: 'Hello' }]
    assert.deepEqual(shown('/v1/chat/completions'), { model: 'small-model', messages })
    assert.deepEqual(shown('/v1/responses'), { model: 'small-model', input: messages })
    assert.deepEqual(shown('/v1/messages'), { model: 'small-model', messages, max_tokens: 64 })
  })

  it('states where the approver key is required', () => {
    const takers = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { parameters = [] }]) =>
        parameters.some(({ name }) => name === 'x-guard-approver-key') ? [`${method} ${path}`] : [],
      ),
    )
    assert.deepEqual(takers.sort(), [
      'delete /api/policies/{project_id}',
      ...['', '/{id}/keys', '/{id}/resume'].map((rest) => `post /api/agents${rest}`),
      'post /api/keys',
      'post /api/sessions/{id}/resume',
      ...['', '/rule'].map((rest) => `post /api/v1/mcp/approvals/{id}${rest}`),
      ...['login', 'login/finish', 'logout', 'pins'].map((rest) => `post /api/v1/mcp/servers/{id}/${rest}`),
      'put /api/policies/{project_id}',
    ])
  })

  it('mentions only existing codes, and describes every group', () => {
    // reasons of the MCP policy, which begin with its name, are no errors
    const named: readonly string[] = JSON.stringify(document).match(/\b(?!MCP_)[A-Z]+_[A-Z_]+\b/g) ?? []
    const { errorCodes, detectors } = started.gateway
    const codes = [...errorCodes.ids(), ...[...detectors].map(({ code }) => code)]
    assert.ok(named.includes('PAUSED_SESSION'))
    assert.deepEqual(
      named.filter((name) => !codes.includes(name)),
      [],
    )
    const tags = Object.values(document.paths).flatMap((operations) =>
      Object.values(operations).flatMap((one) => one.tags),
    )
    const told = new Set(document.tags.map(({ name }) => name))
    assert.deepEqual(
      [...new Set(tags)].filter((tag) => tag !== 'other' && !told.has(tag ?? '')),
      [],
    )
  })

  it('marks optional bodies and parameters', () => {
    assert.equal(operation('POST /api/sessions/{id}/pause').requestBody?.required, false)
    assert.equal(operation('POST /api/v1/traces').requestBody?.required, true)
  })
})
