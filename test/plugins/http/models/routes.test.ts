import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ask, jsonOf, messagesBody, type Started, start, styles } from '../kit.ts'

describe('guarded paths', () => {
  let running: Started
  before(async () => {
    running = await start()
  })
  after(() => running[Symbol.asyncDispose]())

  for (const [path, body] of styles) {
    for (const stream of [false, true]) {
      it(`${path} ${stream ? 'streams' : 'answers'}: the provider gets the bytes, the client the reply`, async () => {
        const sent = JSON.stringify({ ...body, stream }, null, 1)
        const got = await ask(running.port, { path, body: sent })
        assert.equal(got.status, 200, got.body.toString())
        assert.equal(running.provider.last.body.toString(), sent)
        assert.equal(running.provider.last.path, path)
        assert.match(String(got.headers['x-guard-request-id']), /^guardreq_/)
        assert.equal(got.headers['x-guard-decision'], 'allow')
        assert.ok(got.complete)
        const settled = running.settled.at(-1)
        assert.equal(settled?.call.id, got.headers['x-guard-request-id'])
        assert.equal(settled?.outcome, 'ok')
        assert.equal(settled?.usage_source, stream && path.includes('chat') ? 'estimated' : 'reported')
      })
    }
    const bare = path.slice('/v1'.length)
    for (const alias of [`${path}/`, bare, `${bare}/`, `/v1${path}`, `${path}?beta=true&x=%20`]) {
      it(`${alias} is another spelling of ${path}`, async () => {
        const got = await ask(running.port, { path: alias, body })
        assert.equal(got.status, 200, got.body.toString())
        assert.equal(running.provider.last.path, path + (alias.includes('?') ? alias.slice(alias.indexOf('?')) : ''))
      })
    }
    it(`GET ${path} is 405 and says what there is, in the path's dialect`, async () => {
      const got = await ask(running.port, { method: 'GET', path })
      assert.equal(got.status, 405)
      assert.equal(got.headers.allow, 'POST')
      assert.equal(jsonOf(got).error.code, 'METHOD_NOT_ALLOWED')
      assert.equal('param' in jsonOf(got).error, !path.includes('messages'))
      assert.equal(jsonOf(got).type, path.includes('messages') ? 'error' : undefined)
      assert.match(String(got.headers['x-guard-request-id']), /^guardreq_/)
    })
  }

  it('any other path below /v1 is 404 in a dialect, with the request id', async () => {
    const got = await ask(running.port, { path: '/v1/embeddings', body: { model: 'm' } })
    assert.equal(got.status, 404)
    assert.deepEqual(
      { code: jsonOf(got).error.code, param: jsonOf(got).error.param },
      { code: 'NOT_FOUND', param: null },
    )
    assert.match(String(jsonOf(got).error.message), /passthrough/)
    const messages = await ask(running.port, { path: '/v1/nothing', headers: { 'anthropic-version': '2023-06-01' } })
    assert.equal(jsonOf(messages).request_id, messages.headers['x-guard-request-id'])
  })
  it('any other path below /v1 takes a key first', async () => {
    for (const path of ['/v1/embeddings', '/v1', '/v1/messages/batches', '/v1/models']) {
      const got = await ask(running.port, { path, body: {}, key: null })
      assert.deepEqual([got.status, got.headers['www-authenticate']], [401, 'Bearer realm="guard"'], path)
    }
  })
  it('a path that only decodes to one that there is is 400', async () => {
    for (const path of ['/v1/messages%2f', '/v1%2fmessages'])
      assert.equal((await ask(running.port, { path, body: messagesBody })).status, 400)
  })

  for (const [method, path] of [
    ['HEAD', '/'],
    ['HEAD', '/api/hello'],
    ['GET', '/api/hello'],
  ]) {
    it(`${method} ${path} answers without a key`, async () => {
      const got = await ask(running.port, { method: method ?? '', path: path ?? '', key: null })
      assert.deepEqual([got.status, got.body.length], [200, 0])
      assert.match(String(got.headers['x-guard-request-id']), /^guardreq_/)
    })
  }

  it('no model path answers a preflight or sends access-control headers', async () => {
    const headers = { origin: 'http://evil.example', 'access-control-request-method': 'POST' }
    for (const [path] of styles) {
      const got = await ask(running.port, { method: 'OPTIONS', path, headers })
      assert.equal(got.status, 405)
      assert.deepEqual(
        Object.keys(got.headers).filter((name) => name.startsWith('access-control')),
        [],
      )
    }
  })
})

describe('unguarded paths', () => {
  it('count_tokens goes to the upstream as it is and is settled by nobody', async () => {
    await using running = await start()
    for (const path of [
      '/v1/messages/count_tokens',
      '/messages/count_tokens',
      '/v1/v1/messages/count_tokens?beta=true',
    ]) {
      const got = await ask(running.port, { path, body: '{"model":"m-1",  "messages":[]}' })
      assert.deepEqual([got.status, got.body.toString()], [200, '{"input_tokens":42}'])
      assert.equal(running.provider.last.body.toString(), '{"model":"m-1",  "messages":[]}')
      assert.match(running.provider.last.path, /^\/v1\/messages\/count_tokens(\?beta=true)?$/)
      assert.equal(got.headers['x-guard-decision'], undefined)
    }
    assert.deepEqual(running.settled, [])
    running.provider.script({ status: 404, body: '{"type":"error"}' })
    const absent = await ask(running.port, { path: '/v1/messages/count_tokens', body: { model: 'm-1' } })
    assert.deepEqual([absent.status, absent.body.toString()], [404, '{"type":"error"}'])
  })

  it('a refusal of a plugin stops it', async () => {
    await using running = await start({
      plugins: [
        {
          name: 'stop',
          apply: (gateway) => {
            gateway.hooks.proxy.tap({ name: 'stop', stage: -100 }, (request) => {
              assert.equal(request.headers['x-guard-session-id'], 's-1')
              assert.equal(request.headers.authorization, undefined)
              throw new (class extends Error {})('no')
            })
          },
        },
      ],
    })
    const got = await ask(running.port, {
      path: '/v1/messages/count_tokens',
      body: { model: 'm' },
      headers: { 'x-guard-session-id': 's-1' },
    })
    assert.equal(got.status, 500)
    assert.equal(jsonOf(got).error.code, 'INTERNAL')
    assert.equal(running.provider.requests.length, 0)
  })

  it('paths listed in passthrough are forwarded with any method, others are not', async () => {
    await using running = await start({ passthrough: ['/v1/embeddings', '/v1/responses/*'] })
    const got = await ask(running.port, { path: '/v1/embeddings?a=1', body: { model: 'm-1', input: 'x' } })
    assert.equal(got.status, 200, got.body.toString())
    assert.deepEqual([running.provider.last.method, running.provider.last.path], ['POST', '/v1/embeddings?a=1'])
    const form = { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '--x--\r\n' }
    assert.equal((await ask(running.port, { path: '/v1/embeddings', ...form })).status, 200)
    assert.equal(running.provider.last.body.toString(), form.body)
    await ask(running.port, { method: 'DELETE', path: '/v1/responses/resp_1' })
    assert.deepEqual([running.provider.last.method, running.provider.last.path], ['DELETE', '/v1/responses/resp_1'])
    assert.equal((await ask(running.port, { path: '/v1/embeddings', body: {}, key: 'wrong' })).status, 401)
    assert.equal((await ask(running.port, { path: '/v1/images', body: {} })).status, 404)
    assert.deepEqual(running.settled, [])
  })

  it('no spelling of a path that is judged is passed through', async () => {
    await using running = await start({ passthrough: ['/v1/*'] })
    for (const path of ['/v1/responses//', '/v1//chat/completions', '/v1/Chat/Completions']) {
      const got = await ask(running.port, { path, body: messagesBody })
      assert.deepEqual([got.status, jsonOf(got).error.code], [404, 'NOT_FOUND'], path)
      assert.match(String(jsonOf(got).error.message), /another spelling of \/v1\//)
    }
    for (const path of ['/v1/messages%2f', '/v1/chat%5ccompletions'])
      assert.equal((await ask(running.port, { path, body: messagesBody })).status, 400, path)
    assert.equal(running.provider.requests.length, 0)
    assert.equal((await ask(running.port, { path: '/v1/responses/resp_1/cancel', body: {} })).status, 200)
    assert.equal((await ask(running.port, { method: 'GET', path: '/v1/responses/' })).status, 200)
  })

  it('the models of the one upstream of a dialect come byte for byte', async () => {
    await using running = await start()
    running.provider.script({ body: '{ "data" : [ ] }', headers: { 'x-models': '1' } })
    const got = await ask(running.port, { method: 'GET', path: '/v1/models?limit=1000' })
    assert.deepEqual([got.status, got.body.toString(), got.headers['x-models']], [200, '{ "data" : [ ] }', '1'])
    assert.equal(running.provider.last.path, '/v1/models?limit=1000')
    await ask(running.port, { method: 'GET', path: '/models/org/m-1' })
    assert.equal(running.provider.last.path, '/v1/models/org/m-1')
    assert.equal((await ask(running.port, { method: 'GET', path: '/v1/models', key: null })).status, 401)
  })
})
