import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import Fastify from 'fastify'
import { errorBody, type Gateway, statusOf } from 'guard-gateway/core'
import { policyRoutes } from '../../../../plugins/mcp/policy/routes.ts'
import { withoutProcesses } from '../../../kit/no-processes.ts'
import { openGateway } from './kit.ts'

const rules = [{ id: 'a', tools: ['t'], action: 'deny' }]
const text = 'version: 1\nrules:\n  - { id: a, tools: [t], action: deny }\n'

describe('POST /policies/validate', () => {
  let gateway: Gateway
  let app: FastifyInstance
  before(async () => {
    gateway = await openGateway()
    app = Fastify()
    app.setErrorHandler((error, _request, reply) => reply.status(statusOf(error)).send({ error: errorBody(error) }))
    await app.register(policyRoutes(gateway, { tools: () => [{ name: 'u' }] }), { prefix: '/api/v1/mcp' })
  })
  after(async () => {
    await app.close()
    await gateway.close()
  })
  const post = async (payload: string | object, type = 'application/json') => {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/v1/mcp/policies/validate',
      headers: { 'content-type': type },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    })
    return { status: answer.statusCode, body: answer.json() }
  }

  it('takes a policy in each of its forms, and says the same of all', async () => {
    const forms = [
      await post({ yaml: text }),
      await post({ policy: { version: 1, rules } }),
      await post({ version: 1, rules }),
      await post(text, 'application/yaml'),
      await post(text, 'text/yaml; charset=utf-8'),
    ]
    for (const { status, body } of forms) {
      assert.equal(status, 200)
      assert.deepEqual([body.valid, body.errors, body.tests, body.version], [true, [], [], forms[0]?.body.version])
      assert.equal(body.warnings[0].code, 'TOOL_NOT_SEEN')
    }
    assert.deepEqual([forms[0]?.body.warnings[0].line, forms[1]?.body.warnings[0].line], [3, null])
  })
  it('answers 200 for a wrong policy, with each fault at its place', async () => {
    assert.deepEqual(await post({ yaml: 'version: 1\nrules: [*]' }), {
      status: 200,
      body: {
        valid: false,
        version: null,
        errors: [
          {
            code: 'INVALID_YAML',
            path: '',
            line: 2,
            column: 9,
            message: 'a value that begins with * must be in quotes: "*".',
          },
        ],
        warnings: [],
        tests: [],
      },
    })
    const { body } = await post({ version: 1 })
    assert.deepEqual(body.errors, [
      { code: 'INVALID_POLICY', path: '', line: null, column: null, message: 'the key "rules" is missing' },
    ])
    assert.equal((await post({})).body.errors.length, 2)
  })
  it('answers 503 where a text cannot be read for no fault of its own', async () => {
    const { status, body } = await withoutProcesses(() => post({ yaml: `${text}${'# why\n'.repeat(1_000)}` }))
    assert.deepEqual([status, body.error.code], [503, 'PARSER_UNAVAILABLE'])
  })
  it('tells no more than a hundred faults', async () => {
    assert.equal((await post({ version: 1, rules: Array(999).fill(0) })).body.errors.length, 100)
  })
  it('answers with how the tests went', async () => {
    const tests = [{ call: { tool: 't' }, expect: 'allow' }]
    assert.deepEqual((await post({ policy: { version: 1, rules, tests } })).body.tests, [
      { name: 't {}', pass: false, expected: 'allow', actual: 'deny', rule: 'a' },
    ])
  })
  it('answers 400 for what is no policy in any form', async () => {
    for (const body of [[], 'null', { yaml: 5 }]) {
      const { status, body: answered } = await post(body)
      assert.deepEqual([status, answered.error.code], [400, 'INVALID_REQUEST'], JSON.stringify(body))
    }
  })
})
