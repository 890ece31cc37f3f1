import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fakeProvider } from '../../kit/provider.ts'
import { ask, chatBody, messagesBody, start } from '../http/kit.ts'
import { anUpstream } from './kit.ts'

describe('fallback', () => {
  for (const status of [500, 502, 503, 504, 529]) {
    it(`is tried after ${status}, with its own model, and each attempt is recorded`, async () => {
      await using second = await fakeProvider()
      await using running = await start({
        upstreams: (url) => [
          anUpstream('first', url, { fallback: ['second'], model_map: { 'm-1': 'first-m' } }),
          anUpstream('second', second.url, { model_map: { 'm-1': 'second-m' } }),
        ],
      })
      running.provider.script({ status })
      assert.equal((await ask(running.port, { body: chatBody })).status, 200)
      assert.equal(JSON.parse(running.provider.last.body.toString()).model, 'first-m')
      assert.equal(JSON.parse(second.last.body.toString()).model, 'second-m')
      const [settled] = running.settled
      assert.deepEqual(settled?.attempts, [
        { upstream: 'first', address: '127.0.0.1', status, error: null },
        { upstream: 'second', address: '127.0.0.1', status: 200, error: null },
      ])
      assert.equal(settled?.upstream, 'second')
    })
  }
  it('is tried after a timeout and a refused connection; the last error is the answer', async () => {
    await using running = await start({
      upstreams: (url) => [
        anUpstream('slow', url, { fallback: ['gone'], timeouts: { headers_ms: 40 } }),
        anUpstream('gone', 'http://127.0.0.1:1'),
      ],
    })
    running.provider.script({ silent: true })
    const got = await ask(running.port, { body: chatBody })
    assert.equal(got.status, 502)
    assert.deepEqual(
      running.settled[0]?.attempts.map(({ upstream, error }) => [upstream, error]),
      [
        ['slow', 'UPSTREAM_TIMEOUT'],
        ['gone', 'ECONNREFUSED'],
      ],
    )
  })
  it('is passed over where it does not speak the style', async () => {
    await using second = await fakeProvider()
    await using third = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [
        anUpstream('first', url, { fallback: ['claude', 'third'] }),
        anUpstream('claude', second.url, { styles: ['messages'] }),
        anUpstream('third', third.url, { styles: ['chat_completions'] }),
      ],
    })
    running.provider.script({ status: 503 }, { status: 503 })
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    assert.equal((await ask(running.port, { path: '/v1/messages', body: messagesBody })).status, 200)
    assert.deepEqual(
      [second, third].map(({ requests }) => requests.map(({ path }) => path)),
      [['/v1/messages'], ['/v1/chat/completions']],
    )
  })
  it('is not tried after other answers, nor once a reply has started', async () => {
    await using second = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [anUpstream('first', url, { fallback: ['second'] }), anUpstream('second', second.url)],
    })
    running.provider.script({ status: 429 }, { cut_at: 50 })
    assert.equal((await ask(running.port, { body: chatBody })).status, 429)
    assert.equal((await ask(running.port, { body: { ...chatBody, stream: true } })).complete, false)
    assert.equal(second.requests.length, 0)
  })
})
