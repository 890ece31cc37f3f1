import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { headerOf } from 'guard-gateway/core'
import { fakeProvider } from '../../kit/provider.ts'
import { type Asked, ask, chatBody, jsonOf, KEY, messagesBody, start, styles } from '../http/kit.ts'
import { anUpstream } from './kit.ts'

const models = { method: 'GET', path: '/v1/models' }
const list = (id: string): string => JSON.stringify({ object: 'list', data: [{ id, created: 5, owned_by: 'x' }] })

describe('an upstream that passes logins on', () => {
  it('is not asked without one: 401 in each dialect says what to do, and is on record', async () => {
    await using running = await start({ upstream: { auth: 'passthrough' } })
    for (const [path, body] of styles) {
      const got = await ask(running.port, { path, body })
      const { error } = jsonOf(got)
      assert.deepEqual([got.status, error.code, error.type], [401, 'LOGIN_MISSING', 'authentication_error'])
      assert.match(String(error.message), /Upstream "main" passes on the client's own login .*x-guard-key/)
      const settled = running.settled.at(-1)
      assert.deepEqual(
        [settled?.outcome, settled?.status, settled?.error?.code, settled?.upstream],
        ['unreachable', 401, 'LOGIN_MISSING', 'main'],
      )
      assert.equal(got.headers['x-guard-decision'], 'allow')
      assert.equal(got.headers['x-should-retry'], 'false')
    }
    assert.equal(running.provider.requests.length, 0)
    assert.deepEqual(running.faults, [])
  })
  it('is not asked with what is no login: a cookie, another of our keys, a scheme without a token', async () => {
    await using running = await start({ upstream: { auth: 'passthrough' } })
    const none = [
      { cookie: 'session=1' },
      { authorization: 'Bearer ' },
      { 'x-api-key': KEY },
      { authorization: `Bearer ${KEY}` },
    ]
    for (const headers of none) {
      const got = await ask(running.port, { key: null, headers: { 'x-guard-key': KEY, ...headers }, body: chatBody })
      assert.deepEqual([got.status, jsonOf(got).error.code], [401, 'LOGIN_MISSING'], JSON.stringify(headers))
    }
    assert.equal(running.provider.requests.length, 0)
  })
  it('is asked with every kind of credential that a client may bring, and with one of its own', async () => {
    await using running = await start({ upstream: { auth: 'passthrough' } })
    const some: readonly Record<string, string>[] = [
      { authorization: 'Bearer user-login-0123456789' },
      { authorization: 'Basic dXNlcjpwYXNzd29yZA==' },
      { 'x-api-key': 'user-key-0123456789' },
      { 'api-key': 'user-key-0123456789' },
      { 'x-goog-api-key': 'user-key-0123456789' },
    ]
    for (const headers of some) {
      const got = await ask(running.port, { key: null, headers: { 'x-guard-key': KEY, ...headers }, body: chatBody })
      const [[name = '', value] = []] = Object.entries(headers)
      assert.equal(got.status, 200, name)
      assert.equal(headerOf(running.provider.last.headers, name), value)
    }
    assert.equal((await ask(running.port, { path: '/v1/chat/completions?key=user', body: chatBody })).status, 200)
    await using own = await start({ upstream: { auth: 'passthrough', headers: { 'X-Api-Key': 'fixed-0123456789' } } })
    assert.equal((await ask(own.port, { body: chatBody })).status, 200)
  })
  it('is not asked without one for what no rule judges either', async () => {
    await using running = await start({ upstream: { auth: 'passthrough' }, passthrough: ['/v1/embeddings'] })
    const unguarded: readonly Asked[] = [
      { path: '/v1/messages/count_tokens', body: messagesBody },
      { path: '/v1/embeddings', body: { model: 'm-1', input: 'x' } },
      models,
    ]
    for (const asked of unguarded) {
      const got = await ask(running.port, asked)
      assert.deepEqual([got.status, jsonOf(got).error.code], [401, 'LOGIN_MISSING'], asked.path)
    }
    assert.equal(running.provider.requests.length, 0)
  })
  it('is left out of a merged list of models without a login, and gets it with one', async () => {
    await using second = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [
        anUpstream('mine', url, { auth: 'passthrough', models: ['a-*'] }),
        anUpstream('ours', second.url, { models: ['b-*'] }),
      ],
    })
    second.script({ body: list('b-1') })
    const ids = (got: Awaited<ReturnType<typeof ask>>) =>
      (jsonOf(got) as unknown as { data: { id: string }[] }).data.map(({ id }) => id)
    assert.deepEqual(ids(await ask(running.port, models)), ['b-1'])
    assert.equal(running.provider.requests.length, 0)
    running.provider.script({ body: list('a-1') })
    const headers = { authorization: 'Bearer user-login-0123456789', 'x-guard-key': KEY }
    assert.deepEqual(ids(await ask(running.port, { ...models, key: null, headers })), ['a-1', 'b-1'])
    assert.equal(headerOf(running.provider.last.headers, 'authorization'), headers.authorization)
    assert.deepEqual(running.faults, [])
  })
})
