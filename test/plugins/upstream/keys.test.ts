import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fakeClock } from '../../kit/clock.ts'
import type { FakeProvider } from '../../kit/provider.ts'
import { ask, chatBody, jsonOf, messagesBody, start } from '../http/kit.ts'
import { anUpstream, healthIn } from './kit.ts'

const keys = ['key-number-one-abcdef', 'key-number-two-abcdef', 'key-number-three-abcd']

/** The keys that a provider was shown, in order, by their number. */
const shown = ({ requests }: FakeProvider): number[] =>
  requests.map(({ headers }) => keys.findIndex((key) => headers.some((text) => text.endsWith(key))) + 1)

describe('several keys of an upstream', () => {
  const limited = (retry: string) => ({ status: 429, headers: { 'retry-after': retry }, body: '{"error":{}}' })

  it('are used in order: after 401, 402 or 429 the request is sent with the next, and each attempt is recorded', async () => {
    for (const status of [401, 402, 429]) {
      await using running = await start({ upstreams: (url) => [anUpstream('main', url, { api_keys: keys })] })
      running.provider.script({ status }, { status })
      const got = await ask(running.port, { body: chatBody })
      assert.equal(got.status, 200)
      assert.deepEqual(shown(running.provider), [1, 2, 3])
      assert.deepEqual(
        running.settled[0]?.attempts.map(({ upstream, status }) => [upstream, status]),
        [
          ['main', status],
          ['main', status],
          ['main', 200],
        ],
      )
      assert.equal(running.settled.length, 1, 'one request, one decision')
      const texts = JSON.stringify([
        running.settled[0]?.attempts,
        running.log,
        [...running.gateway.health].map(([, tell]) => tell()),
      ])
      for (const key of keys) assert.ok(!texts.includes(key))
    }
  })
  it('rest for as long as the provider says, and are used again then', async () => {
    const clock = fakeClock()
    await using running = await start({ clock, upstreams: (url) => [anUpstream('main', url, { api_keys: keys })] })
    running.provider.script(limited('60'))
    await ask(running.port, { body: chatBody })
    clock.advance(59_999)
    await ask(running.port, { body: chatBody })
    const [health] = healthIn(running)
    assert.deepEqual([health?.keys, health?.ready], [{ count: 3, resting: 1 }, true])
    clock.advance(1)
    await ask(running.port, { body: chatBody })
    assert.deepEqual(shown(running.provider), [1, 2, 2, 1])
  })
  it('take turns where the configuration says so', async () => {
    await using running = await start({
      upstreams: (url) => [anUpstream('main', url, { api_keys: keys, key_order: 'round_robin' })],
    })
    running.provider.script({}, limited('60'))
    for (let turn = 0; turn < 5; turn++) await ask(running.port, { body: chatBody })
    assert.deepEqual(shown(running.provider), [1, 2, 1, 3, 1, 3])
  })
  it('that all rest: the one that rests the shortest is tried once, and the client hears what the provider says', async () => {
    const clock = fakeClock()
    await using running = await start({ clock, upstreams: (url) => [anUpstream('main', url, { api_keys: keys })] })
    running.provider.script(limited('60'), limited('20'), limited('40'))
    const first = await ask(running.port, { body: chatBody })
    assert.deepEqual([first.status, first.headers['retry-after'], first.body.toString()], [429, '40', '{"error":{}}'])
    running.provider.script(limited('5'))
    assert.equal((await ask(running.port, { body: chatBody })).status, 429)
    assert.deepEqual(shown(running.provider), [1, 2, 3, 2])
    assert.equal((await ask(running.port, { body: chatBody })).status, 200, 'it is taken after all, and rests no more')
    assert.deepEqual(shown(running.provider).slice(4), [2])
  })
  it('are shown as each style shows its key, also for what no rule judges', async () => {
    await using running = await start({ upstreams: (url) => [anUpstream('main', url, { api_keys: keys })] })
    running.provider.script(limited('60'))
    const counted = await ask(running.port, { path: '/v1/messages/count_tokens', body: messagesBody })
    assert.equal(counted.status, 429, 'nothing is sent twice without a decision')
    await ask(running.port, { path: '/v1/messages', body: messagesBody })
    const { headers } = running.provider.last
    assert.equal(headers[headers.findIndex((name) => name.toLowerCase() === 'x-api-key') + 1], keys[1])
    assert.deepEqual(shown(running.provider), [1, 2])
  })
  it('are of no use after another status, or without an answer', async () => {
    await using running = await start({ upstreams: (url) => [anUpstream('main', url, { api_keys: keys })] })
    running.provider.script({ status: 400 }, { status: 403 }, { status: 500 }, { reset: true })
    for (const status of [400, 403, 500, 502])
      assert.equal((await ask(running.port, { body: chatBody })).status, status)
    assert.deepEqual(shown(running.provider), [1, 1, 1, 1])
  })
  it('never reach a client or stay in what is answered', async () => {
    await using running = await start({ upstreams: (url) => [anUpstream('main', url, { api_keys: keys })] })
    running.provider.script({ status: 400, headers: { 'x-echo': keys[1] ?? '' }, body: '{}' })
    const got = await ask(running.port, { body: chatBody })
    assert.equal(got.headers['x-echo'], undefined)
    const target = await ask(running.port, { path: `/v1/models?key=${keys[2]}`, method: 'GET' })
    assert.equal(jsonOf(target).error.code, 'CREDENTIAL_IN_URL')
  })
})
