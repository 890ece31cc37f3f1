import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Fastify from 'fastify'
import { asFastifyPlugin } from 'guard-gateway/plugins/http'
import { fakeProvider } from '../../../kit/provider.ts'
import { KEY, messagesBody } from '../kit.ts'
import { fromBeyond, gatewayFor, localProxy } from './kit.ts'

describe('a gateway inside a host application', () => {
  it('serves its own paths and leaves those of the host alone', async () => {
    await using provider = await fakeProvider()
    const gateway = gatewayFor(provider)
    let closed = false
    gateway.hooks.close.tap('test', () => {
      closed = true
    })
    const app = Fastify()
    app.get('/mine', async () => ({ host: true }))
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('the host knows no such page'))
    app.setErrorHandler((_error, _request, reply) => reply.code(500).send('the host failed'))
    app.get('/fails', async () => {
      throw new Error('no')
    })
    await app.register(asFastifyPlugin(gateway))
    const url = await app.listen({ port: 0, host: '127.0.0.1' })

    const evil = { host: 'evil.example' }
    assert.deepEqual((await app.inject({ url: '/mine', headers: evil })).json(), { host: true })
    assert.equal((await app.inject({ url: '/mine' })).headers['x-guard-request-id'], undefined)
    assert.equal((await app.inject({ url: '/livez' })).body, 'the host knows no such page')
    assert.equal((await app.inject({ url: '/nowhere' })).body, 'the host knows no such page')
    assert.equal((await app.inject({ url: '/fails' })).body, 'the host failed')
    assert.equal(
      (await app.inject({ method: 'POST', url: '/mine', payload: 'x', headers: { 'content-type': 'text/plain' } }))
        .body,
      'the host knows no such page',
    )

    assert.equal((await app.inject({ url: '/api/health', headers: { host: 'localhost' } })).json().status, 'ok')
    assert.equal((await app.inject({ url: '/api/health', headers: evil })).json().error.code, 'HOST_NOT_ALLOWED')
    assert.equal(
      (await app.inject({ url: '/api/nothing', headers: { host: 'localhost' } })).json().error.code,
      'NOT_FOUND',
    )
    const astray = { method: 'POST', url: '/v1/nothing', headers: { host: 'localhost', 'x-api-key': KEY } } as const
    assert.equal((await app.inject(astray)).json().error.code, 'NOT_FOUND')
    const answer = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify(messagesBody),
    })
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('x-guard-request-id') ?? '', /^guardreq_/)
    await answer.text()
    await app.close()
    assert.ok(closed)
  })
  it('answers injected model requests with all headers', async () => {
    await using provider = await fakeProvider()
    const gateway = gatewayFor(provider)
    const app = Fastify()
    await app.register(asFastifyPlugin(gateway, { alone: true }))
    const got = await app.inject({
      method: 'POST',
      url: '/v1/messages',
      headers: { host: 'localhost', 'x-api-key': KEY },
      payload: messagesBody,
    })
    assert.equal(got.statusCode, 200)
    assert.match(String(got.headers['x-guard-request-id']), /^guardreq_/)
    assert.equal(got.json().id, 'msg_1')
    assert.equal((await app.inject({ url: '/nowhere', headers: { host: 'localhost' } })).json().error.code, 'NOT_FOUND')
    await app.close()
  })

  it('takes from each connection who may administer, and from each request what a trusted proxy says', async () => {
    await using provider = await fakeProvider()
    const app = Fastify()
    app.addHook('onRequest', async ({ raw }) => {
      if (raw.headers['x-from'] === 'beyond') fromBeyond(raw)
    })
    await app.register(asFastifyPlugin(gatewayFor(provider, { auth_proxy: localProxy })))
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const send = (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
      fetch(url + path, { ...init, headers: { 'content-type': 'application/json', ...headers } })
    const body = JSON.stringify(messagesBody)
    await (await send('/v1/messages', { 'x-api-key': KEY, 'x-forwarded-user': 'ada' }, { method: 'POST', body })).text()
    assert.equal(provider.requests.length, 1)
    assert.doesNotMatch(JSON.stringify(provider.requests[0]?.headers), /ada/)
    const seen = async (headers: Record<string, string>) =>
      Object.keys((await (await send('/api/health', headers)).json()) as object)
    assert.ok((await seen({})).includes('upstreams'))
    assert.ok(!(await seen({ 'x-from': 'beyond' })).includes('upstreams'))
    assert.ok(!(await seen({})).includes('upstreams'))
    await app.close()
  })
})
