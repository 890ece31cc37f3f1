import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { apiStyle } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { ask, type Got, jsonOf, type Started, start } from '../kit.ts'

const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const chat = { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] }
const model = '/v1beta/models/m-1'

/** The error of an answer in Google's form. */
const googleCode = (got: Got): readonly unknown[] => {
  const { code, status, details } = jsonOf(got).error
  return [code, status, (details as readonly { readonly reason: string }[])[0]?.reason]
}

describe('paths with parameters', () => {
  let running: Started
  before(async () => {
    running = await start()
  })
  after(() => running[Symbol.asyncDispose]())
  beforeEach(() => {
    running.provider.requests.length = 0
    running.settled.length = 0
  })

  for (const [path, named, stream] of [
    [`${model}:generateContent`, 'm-1', false],
    [`${model}:streamGenerateContent?alt=sse`, 'm-1', true],
    [`${model}:streamGenerateContent`, 'm-1', true],
    ['/v1/models/m-1:generateContent', 'm-1', false],
    ['/v1beta/tunedModels/mine-1:generateContent', 'tunedModels/mine-1', false],
    ['/v1beta1/projects/p/locations/l/publishers/google/models/m-1:streamGenerateContent?alt=sse', 'm-1', true],
    ['/v1beta/models/m%2D1%3Ax:generateContent?a=%20b', 'm-1:x', false],
    ['/v1beta/models/m-1%3AgenerateContent', 'm-1', false],
    ['/v1beta/models/a%2Fb:generateContent', 'a/b', false],
    ['/v1beta/models/%E6%A8%A1:generateContent', '模', false],
  ] as const)
    it(`${path} goes up as it came, and is judged as a request to ${named}`, async () => {
      const body = JSON.stringify({ contents }, null, 1)
      const got = await ask(running.port, { path, body })
      assert.equal(got.status, 200, got.body.toString())
      assert.equal(running.provider.last.path, path)
      assert.equal(running.provider.last.body.toString(), body)
      const [settled] = running.settled
      assert.deepEqual(
        [settled?.call.envelope.model, settled?.call.envelope.stream, settled?.outcome, settled?.usage_source],
        [named, stream, 'ok', 'reported'],
      )
      assert.equal(settled?.reading.complete, true)
      assert.equal(settled?.usage.total_tokens, 25)
    })

  for (const path of [
    '/v1beta/models/../../v1/messages:generateContent',
    '/v1beta/models/%2e%2e/x:generateContent',
    '/v1beta/models/..%2f..%2fx:generateContent',
    '/v1beta/models/%252e%252e%252fx:generateContent',
    '/v1beta/models/x%00:generateContent',
    '/v1beta/models/x%0d%0a:generateContent',
    '/v1/models/..%2f..:streamGenerateContent',
  ])
    it(`${path} reaches nobody, and is refused in Google's words`, async () => {
      const got = await ask(running.port, { path, body: { contents } })
      assert.deepEqual([got.status, ...googleCode(got)], [400, 400, 'INVALID_ARGUMENT', 'INVALID_TARGET'])
      assert.deepEqual(running.provider.requests, [])
    })

  for (const path of [
    '/v1beta/models//m-1:generateContent',
    '/v1beta/models/..:generateContent',
    '/v1beta/models/%2e%2e:streamGenerateContent',
    '/v1beta/..:countTokens',
    '/v1beta/:generateContent',
    '/v1beta/models/m-1:GenerateContent',
    '/v1beta/models/m-1:generateContent/',
    '/v1beta/models/m-1',
    '/v1beta/models/m-1:deleteEverything',
    '/v1beta/models/m-1:generateContent%253Fx:countTokens',
    '/v1beta/models/m-1:generateContent%3Fx:countTokens',
    '/v1beta/models/m-1:generateContent%23x:countTokens',
    '/v1beta/models/m-1:generateContent;x:countTokens',
    `/v1beta/models/${'x'.repeat(9000)}:generateContent`,
  ])
    it(`${path.slice(0, 60)} is no path, and is refused in Google's words`, async () => {
      const got = await ask(running.port, { path, body: { contents } })
      // a model that is called so could be looked at
      const allowed = /^\/v1beta\/models\/m-1(?!.*countTokens)(?!.*generateContent)/.test(path)
      assert.deepEqual(
        [got.status, ...googleCode(got)],
        allowed ? [405, 405, 'INVALID_ARGUMENT', 'METHOD_NOT_ALLOWED'] : [404, 404, 'NOT_FOUND', 'NOT_FOUND'],
      )
      assert.deepEqual(running.provider.requests, [])
    })

  it('say which method they take', async () => {
    for (const headers of [{}, { 'x-http-method-override': 'POST' }])
      for (const path of [`${model}:generateContent`, '/v1beta/models/m-1%3AgenerateContent']) {
        const got = await ask(running.port, { method: 'GET', path, headers, body: { contents } })
        assert.deepEqual([got.status, got.headers.allow], [405, 'POST'])
      }
    assert.deepEqual(running.provider.requests, [])
  })

  it('are refused in their own words for any reason', async () => {
    const path = `${model}:generateContent`
    const keyless = await ask(running.port, { path, body: { contents }, key: null })
    assert.deepEqual(googleCode(keyless), [401, 'UNAUTHENTICATED', 'UNAUTHORIZED'])
    assert.deepEqual(googleCode(await ask(running.port, { path, body: '{' })), [
      400,
      'INVALID_ARGUMENT',
      'INVALID_BODY',
    ])
    const twice = '{"contents":[],"contents":[]}'
    assert.deepEqual(googleCode(await ask(running.port, { path, body: twice })), [
      400,
      'INVALID_ARGUMENT',
      'INVALID_BODY',
    ])
    running.provider.script({ reset: true })
    assert.deepEqual(googleCode(await ask(running.port, { path, body: { contents } })), [
      502,
      'UNAVAILABLE',
      'UPSTREAM_UNREACHABLE',
    ])
  })

  for (const [method, path] of [
    ['POST', `${model}:countTokens`],
    ['POST', `${model}:embedContent`],
    ['GET', model],
    ['GET', '/v1beta/models'],
    ['GET', '/v1beta/models?pageSize=5'],
  ] as const)
    it(`${method} ${path} passes unjudged`, async () => {
      const body = method === 'POST' ? { body: { contents } } : {}
      const got = await ask(running.port, { method, path, ...body })
      assert.equal(got.status, 200, got.body.toString())
      assert.equal(running.provider.last.path, path)
      assert.deepEqual(running.settled, [])
      assert.equal(got.headers['x-guard-decision'], undefined)
      const keyless = await ask(running.port, { method, path, ...body, key: null })
      assert.deepEqual(googleCode(keyless), [401, 'UNAUTHENTICATED', 'UNAUTHORIZED'])
    })
})

describe('paths outside of /v1', () => {
  let running: Started
  before(async () => {
    running = await start()
  })
  after(() => running[Symbol.asyncDispose]())
  beforeEach(() => {
    running.provider.requests.length = 0
    running.settled.length = 0
  })

  for (const [path, body, stream] of [
    ['/api/chat', chat, true],
    ['/api/chat', { ...chat, stream: false }, false],
    ['/api/generate', { model: 'm-1', prompt: 'Hello' }, true],
    ['/api/chat/', chat, true],
  ] as const)
    it(`${path} ${JSON.stringify(body)} ${stream ? 'streams' : 'answers'}`, async () => {
      const got = await ask(running.port, { path, body })
      assert.equal(got.status, 200, got.body.toString())
      assert.equal(got.headers['content-type'], stream ? 'application/x-ndjson' : 'application/json')
      assert.equal(running.provider.last.path, path.replace(/\/$/, ''))
      const [settled] = running.settled
      assert.deepEqual([settled?.outcome, settled?.reading.complete, settled?.usage.total_tokens], ['ok', true, 25])
    })

  it('are refused in their own words', async () => {
    const keyless = await ask(running.port, { path: '/api/chat', body: chat, key: null })
    assert.deepEqual([keyless.status, jsonOf(keyless).code], [401, 'UNAUTHORIZED'])
    assert.match(String(jsonOf(keyless).error), /key/)
    const get = await ask(running.port, { method: 'GET', path: '/api/generate' })
    assert.deepEqual([get.status, get.headers.allow, jsonOf(get).code], [405, 'POST', 'METHOD_NOT_ALLOWED'])
  })

  it('leave the paths of the gateway beside them alone', async () => {
    const health = await ask(running.port, { method: 'GET', path: '/api/health', key: null })
    assert.equal(health.status, 200)
    const missing = await ask(running.port, { method: 'POST', path: '/api/pull', body: {} })
    assert.deepEqual([missing.status, jsonOf(missing).error.code], [404, 'NOT_FOUND'])
  })

  for (const [method, path] of [
    ['GET', '/api/tags'],
    ['GET', '/api/version'],
    ['GET', '/api/ps'],
    ['POST', '/api/show'],
    ['POST', '/api/embed'],
  ] as const)
    it(`${method} ${path} passes unjudged`, async () => {
      const got = await ask(running.port, { method, path, ...(method === 'POST' ? { body: { model: 'm-1' } } : {}) })
      assert.equal(got.status, 200, got.body.toString())
      assert.equal(running.provider.last.path, path)
      assert.deepEqual(running.settled, [])
    })
})

describe('the base address of an upstream', () => {
  for (const base of ['', '/v1beta', '/v1beta/', '/proxy/v1beta'])
    it(`ending in "${base}" is joined with a path that begins so`, async () => {
      await using running = await start({
        upstreams: (url) => [{ name: 'g', base_url: url + base, styles: ['gemini'] }],
      })
      const got = await ask(running.port, { path: `${model}:generateContent`, body: { contents } })
      assert.equal(got.status, 200, got.body.toString())
      assert.equal(running.provider.last.path, `${base.startsWith('/proxy') ? '/proxy' : ''}${model}:generateContent`)
      await ask(running.port, { method: 'GET', path: '/v1beta/models' })
      assert.equal(running.provider.last.path, `${base.startsWith('/proxy') ? '/proxy' : ''}/v1beta/models`)
    })
})

describe('a style whose paths cannot be served', () => {
  for (const [more, told] of [
    [{ paths: ['/x/{a}{b}'] }, /"mine".*more than one way/],
    [{ paths: ['/x/{+a}/{+b}'] }, /"mine".*more than one way/],
    [{ paths: ['/x/{a-b}'] }, /"mine".*not \{name\}/],
    [{ unguarded: ['PURGE /x'] }, /"mine" is "PURGE \/x"; it is like "GET/],
  ] as const)
    it(`stops the start with its name: ${JSON.stringify(more)}`, async () => {
      const mine = apiStyle({ ...messages, id: 'mine', paths: ['/x'], unguarded: [], ...more })
      await assert.rejects(
        async () => {
          await using _ = await start({ plugins: [mine] })
        },
        (error: Error) => told.test(`${error.message} ${String((error.cause as Error | undefined)?.message)}`),
      )
    })
})
