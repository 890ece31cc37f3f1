import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type Started, startGateway } from '../../kit.ts'

type Content = Readonly<Record<string, { readonly schema: object }>>
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly required: boolean }[]
  readonly requestBody?: { readonly content: Content }
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

let started: Started
let document: Document
before(async () => {
  started = await startGateway()
  document = (await started.request('GET', '/openapi.json')).json as Document
})
after(() => started.close())

const operation = (line: string): Operation => {
  const [method = '', path = ''] = line.split(' ')
  return document.paths[path]?.[method.toLowerCase()] ?? assert.fail(line)
}

const contentOf = (line: string): Content => operation(line).requestBody?.content ?? {}

const takes = (line: string, body: unknown): boolean =>
  new Ajv2020({ strict: false }).validate(contentOf(line)['application/json']?.schema ?? false, body)

describe('described bodies', () => {
  const odd = { constructor: 1 }
  for (const [line, body] of [
    ['PATCH /api/sessions/{id}', { name: 'n' }],
    ['POST /api/sessions/{id}/pause', { reason: 'r' }],
    ['POST /api/agents', { id: 'a' }],
    ['PUT /api/policies/{project_id}', { rules: [{ rule_type: 'exact_repeat' }] }],
    ['POST /api/policies/{project_id}/simulate', { mode: 'shadow', since: '24h' }],
    ['POST /api/v1/playground/runs', { scenario: 's' }],
    ['POST /api/demo/run', { scenario: 's' }],
    ['POST /api/v1/runs/{trace_id}/pin', { pinned: true }],
  ] as const)
    it(`${line}: have only members that the route accepts`, () => {
      assert.ok(takes(line, body))
      assert.ok(!takes(line, { ...body, ...odd }))
    })
  it('rules without unused members', () => {
    assert.ok(!takes('PUT /api/policies/{project_id}', [{ rule_type: 'exact_repeat', ...odd }]))
  })
  it('the response of a status', () => {
    assert.ok(takes('POST /api/v1/traces', { status: 'gone_wrong' }))
    assert.ok(!takes('POST /api/v1/traces', { status: 'Gone wrong' }))
  })
  it('MCP policies as YAML', () => {
    assert.ok('application/yaml' in contentOf('POST /api/v1/mcp/policies/validate'))
  })
})

describe('described queries', () => {
  for (const line of ['GET /api/sessions', 'GET /api/sessions/{id}/events', 'GET /api/v1/mcp/events'])
    it(`${line}: have optional parameters`, () => {
      const { parameters = [] } = operation(line)
      for (const { name, required } of parameters) assert.equal(required, name === 'id', name)
    })
})
