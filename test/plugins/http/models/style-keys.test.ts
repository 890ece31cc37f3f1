import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, KEY, PROVIDER_KEY, start } from '../kit.ts'

const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const chat = { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] }
const model = '/v1beta/models/m-1'

/** The values of a header, name in lower case. */
const values = (headers: readonly string[], name: string): readonly string[] =>
  headers.flatMap((value, index) => (index % 2 === 1 && headers[index - 1]?.toLowerCase() === name ? [value] : []))

describe('keys of a dialect', () => {
  const path = `${model}:generateContent`
  const body = { contents }

  it('are accepted where it has them, and go up as the key of the upstream', async () => {
    await using running = await start()
    for (const [target, headers] of [
      [path, { 'x-goog-api-key': KEY }],
      [`${path}?key=${KEY}`, {}],
      [`${path}?a=1&key=${KEY}&b=%20`, {}],
      [`${path}?%6bey=${KEY}`, {}],
      [`${model}:countTokens?key=${KEY}`, {}],
    ] as const) {
      const got = await ask(running.port, { path: target, body, headers, key: null })
      assert.equal(got.status, 200, got.body.toString())
      const { path: asked, headers: sent } = running.provider.last
      assert.deepEqual(values(sent, 'x-goog-api-key'), [PROVIDER_KEY])
      assert.deepEqual(values(sent, 'authorization'), [])
      assert.ok(!JSON.stringify([asked, sent]).includes(KEY))
      assert.equal(asked, target.includes('a=1') ? `${path}?a=1&b=%20` : target.split('?')[0])
    }
    assert.ok(
      !JSON.stringify([running.log, running.settled.map(({ call }) => [call.query, call.raw_headers])]).includes(KEY),
    )
  })

  it('are not accepted there in another dialect', async () => {
    await using running = await start()
    for (const target of ['/v1/messages', '/api/chat']) {
      const got = await ask(running.port, { path: target, body: chat, headers: { 'x-goog-api-key': KEY }, key: null })
      assert.equal(got.status, 401)
      const inQuery = await ask(running.port, { path: `${target}?key=${KEY}`, body: chat })
      assert.equal(inQuery.status, 400)
    }
    assert.deepEqual(running.provider.requests, [])
  })

  it('tell whose model list is wanted, where dialects share its path', async () => {
    await using running = await start({
      upstreams: (url) => [
        { name: 'other', base_url: `${url}/other`, styles: ['chat_completions'] },
        { name: 'google', base_url: `${url}/google/v1beta`, styles: ['gemini'] },
      ],
    })
    for (const [headers, wanted] of [
      [{ 'x-goog-api-key': KEY }, '/google/v1/models'],
      [{ authorization: `Bearer ${KEY}` }, '/other/v1/models'],
    ] as const) {
      const got = await ask(running.port, { method: 'GET', path: '/v1/models', headers, key: null })
      assert.equal(got.status, 200)
      assert.equal(running.provider.last.path, wanted)
    }
    const one = await ask(running.port, {
      method: 'GET',
      path: '/v1/models/m-1',
      headers: { 'x-goog-api-key': KEY },
      key: null,
    })
    assert.deepEqual([one.status, running.provider.last.path], [200, '/google/v1/models/m-1'])
    const wrong = await ask(running.port, {
      method: 'GET',
      path: '/v1/models',
      headers: { 'x-goog-api-key': 'wrong' },
      key: null,
    })
    assert.match(wrong.body.toString(), /UNAUTHENTICATED/)
  })

  it('that are wrong are refused without being repeated', async () => {
    await using running = await start()
    const got = await ask(running.port, { path: `${path}?key=wrong-key-0123456789`, body, key: null })
    assert.deepEqual([got.status, got.body.toString().includes('wrong-key')], [401, false])
    assert.ok(!running.log.join('').includes('wrong-key'))
  })

  it('of the client itself go up where logins pass through, as a header', async () => {
    await using running = await start({ upstream: { auth: 'passthrough', api_key: undefined as never } })
    for (const [target, headers] of [
      [path, { 'x-goog-api-key': 'their-own' }],
      [`${path}?key=their-own&x=1`, {}],
    ] as const) {
      const got = await ask(running.port, {
        path: target,
        body,
        headers: { ...headers, 'x-guard-key': KEY },
        key: null,
      })
      assert.equal(got.status, 200, got.body.toString())
      assert.deepEqual(values(running.provider.last.headers, 'x-goog-api-key'), ['their-own'])
      assert.equal(running.provider.last.path, target.includes('?') ? `${path}?x=1` : path)
    }
  })
})
