import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { GuardError, type Plugin } from 'guard-gateway/core'
import { sessionErrors } from '../../../plugins/sessions/error-codes.ts'
import { ask, jsonOf, type Started, start } from './kit.ts'

const bodySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: { type: 'string' }, count: { type: 'integer' }, mode: { enum: ['shadow', 'enforce'] } },
}

/** Routes as features register them. */
const feature: Plugin = {
  name: 'feature',
  apply: (gateway) => {
    gateway.hooks.http.tapPromise('feature', async (app) => {
      await app.register(
        async (scope) => {
          scope.post('/things', { schema: { body: bodySchema } }, async ({ body }) => ({ got: body }))
          const union = { anyOf: [{ type: 'null' }, bodySchema] }
          scope.post('/may-be', { schema: { body: union } }, async ({ body }) => ({ got: body ?? null }))
          scope.post('/bare', async ({ body }) => ({ got: body ?? null }))
          const querystring = {
            type: 'object',
            properties: { limit: { type: 'integer', default: 50 }, pinned: { type: 'boolean' } },
          }
          scope.get('/list', { schema: { querystring } }, async ({ query }) => query)
          scope.get('/page', async (_request, reply) => reply.type('text/html; charset=utf-8').send('<p>'))
          scope.get('/cached', async (_request, reply) => reply.header('cache-control', 'max-age=31536000').send('x'))
          scope.get('/known', async () => {
            throw new GuardError(sessionErrors.AGENT_NOT_FOUND, 'There is no agent "x".', { known: ['a'] })
          })
          scope.get('/unknown', async () => {
            throw new Error('inside: /etc/secret')
          })
        },
        { prefix: '/api' },
      )
    })
  },
}

describe('administration routes', () => {
  let running: Started
  before(async () => {
    running = await start({ plugins: [feature] })
  })
  after(() => running[Symbol.asyncDispose]())

  const post = (path: string, body?: object | string | Uint8Array, headers: Record<string, string> = {}) =>
    ask(running.port, { path, key: null, headers, ...(body === undefined ? {} : { body }) })
  const get = (path: string) => ask(running.port, { method: 'GET', path, key: null })

  it('take strict JSON', async () => {
    const got = await post('/api/things', { name: 'a', count: 3 })
    assert.deepEqual(jsonOf(got).got, { name: 'a', count: 3 })
    assert.match(String(got.headers['x-guard-request-id']), /^guardreq_/)
  })
  it('keep every digit and every name of a body', async () => {
    const got = await post('/api/bare', '{"__proto__":{"a":1},"n":1}')
    assert.equal(got.body.toString(), '{"got":{"__proto__":{"a":1},"n":1}}')
  })
  it('take no body for no body, with or without a type', async () => {
    for (const headers of [
      {},
      { 'content-type': 'application/json' },
      { 'content-type': 'application/json', 'content-length': '0' },
      { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' },
    ]) {
      const got = await post('/api/bare', undefined, headers)
      assert.deepEqual([got.status, got.body.toString()], [200, '{"got":null}'])
    }
  })
  for (const [name, body, path] of [
    ['a text for a number', { name: 'a', count: '3' }, '/count'],
    ['a number for a text', { name: 1 }, '/name'],
    ['an unknown member', { name: 'a', nmae: 'b' }, '/nmae'],
    ['a missing member', {}, ''],
    ['a word that is none of those allowed', { name: 'a', mode: 'off' }, '/mode'],
  ] as const) {
    it(`refuse ${name} and say where`, async () => {
      const got = await post('/api/things', body)
      assert.deepEqual([got.status, jsonOf(got).error.code, jsonOf(got).error.path], [400, 'INVALID_REQUEST', path])
      assert.ok(String(jsonOf(got).error.message).length > 20)
    })
  }
  it('name the member that is not known and the words that are', async () => {
    assert.match(String(jsonOf(await post('/api/things', { name: 'a', nmae: 1 })).error.message), /nmae/)
    assert.match(String(jsonOf(await post('/api/things', { name: 'a', mode: 'off' })).error.message), /shadow, enforce/)
  })
  for (const [body, message] of [
    [{ name: 'a', mode: 'off' }, 'The body at /mode must be equal to one of the allowed values: shadow, enforce.'],
    [{ name: 5 }, 'The body at /name must be string.'],
    ['"text"', 'The body must be null or object.'],
  ] as const) {
    it(`say of ${JSON.stringify(body)} what the branch of a union wants that was meant`, async () => {
      const got = await post('/api/may-be', body)
      assert.deepEqual([got.status, jsonOf(got).error.message], [400, message])
    })
  }
  for (const [name, body, code] of [
    ['half an object', '{"name":', 'INVALID_JSON'],
    ['a doubled member', '{"name":"a","name":"b"}', 'INVALID_JSON'],
    ['deep nesting', `${'['.repeat(200)}${']'.repeat(200)}`, 'INVALID_JSON'],
  ] as const) {
    it(`refuse ${name}`, async () => {
      const got = await post('/api/bare', body)
      assert.deepEqual([got.status, jsonOf(got).error.code], [400, code])
    })
  }
  it('refuse a byte order mark and bytes that are not UTF-8', async () => {
    for (const body of [Buffer.from('\ufeff{}'), Buffer.from([0x22, 0xff, 0x22])])
      assert.equal((await post('/api/bare', body)).status, 400)
  })
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'nothing',
  ]) {
    it(`refuse a body of type ${type}`, async () => {
      const got = await post('/api/bare', '{}', { 'content-type': type })
      assert.deepEqual([got.status, jsonOf(got).error.code], [415, 'UNSUPPORTED_MEDIA_TYPE'])
    })
  }
  it('refuse a body without a type', async () => {
    assert.equal((await post('/api/bare', '{}', { 'content-type': '' })).status, 415)
  })
  it('refuse a body over 1 MiB', async () => {
    const got = await post('/api/bare', JSON.stringify('a'.repeat(1_048_576)))
    assert.deepEqual([got.status, jsonOf(got).error.code], [413, 'BODY_TOO_LARGE'])
  })
  it('read numbers and booleans from queries, with defaults', async () => {
    assert.deepEqual(JSON.parse((await get('/api/list?pinned=true')).body.toString()), { limit: 50, pinned: true })
    for (const text of ['ten', '1e1', '%2B5', '5.0', ' 5', ''])
      assert.equal((await get(`/api/list?limit=${text.replace(' ', '%20')}`)).status, 400, text)
  })

  it('guard every answer against browsers', async () => {
    for (const path of ['/api/list', '/api/known', '/api/nothing', '/api/page', '/nowhere']) {
      const { headers } = await get(path)
      assert.deepEqual(
        [
          headers['x-content-type-options'],
          headers['cross-origin-resource-policy'],
          headers['referrer-policy'],
          headers['cache-control'],
        ],
        ['nosniff', 'same-origin', 'same-origin', 'no-store'],
        path,
      )
      assert.equal(headers['x-frame-options'], path === '/api/page' ? 'DENY' : undefined)
    }
    assert.equal((await get('/api/cached')).headers['cache-control'], 'max-age=31536000')
  })
  it('answer a known error with its text and an unknown one with none of its inside', async () => {
    const known = await get('/api/known')
    assert.equal(known.status, 404)
    assert.deepEqual(jsonOf(known), {
      error: { type: 'not_found_error', code: 'AGENT_NOT_FOUND', message: 'There is no agent "x".', known: ['a'] },
    })
    const unknown = await get('/api/unknown')
    assert.deepEqual([unknown.status, jsonOf(unknown).error.code], [500, 'INTERNAL'])
    assert.ok(!unknown.body.includes('inside'))
    assert.ok(running.faults.some((fault) => fault.includes('inside')))
  })
  it('tell a wrong method from a wrong path', async () => {
    const method = await ask(running.port, { method: 'DELETE', path: '/api/things', key: null })
    assert.deepEqual([method.status, method.headers.allow], [405, 'POST'])
    assert.deepEqual([(await get('/api/things/1')).status, (await get('/api/nothing')).status], [404, 404])
    assert.equal((await ask(running.port, { method: 'OPTIONS', path: '/api/things', key: null })).status, 405)
  })
  it('take ids made of path syntax for ids', async () => {
    for (const path of ['/api/..%2f..%2fetc', '/api/list/..%5c', `/api/${'a'.repeat(5000)}`, '/api/%2e%2e/health']) {
      const { status } = await get(path)
      assert.ok(status === 404 || status === 400, `${path}: ${status}`)
    }
  })
})
