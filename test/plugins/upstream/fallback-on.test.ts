import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fakeClock } from '../../kit/clock.ts'
import { fakeProvider } from '../../kit/provider.ts'
import { ask, chatBody, KEY, start } from '../http/kit.ts'
import { anUpstream, healthIn } from './kit.ts'

const isUp = { status: 200 }
const limited = { status: 429, headers: { 'retry-after': '20' } }

describe('fallback_on', () => {
  it('leads to a stand-in after 429 and 401, and no request goes to that upstream for its retry-after', async () => {
    for (const status of [429, 401]) {
      const clock = fakeClock()
      await using second = await fakeProvider()
      await using running = await start({
        clock,
        upstreams: (url) => [
          anUpstream('first', url, { fallback: ['second'], fallback_on: [401, 429] }),
          anUpstream('second', second.url),
        ],
      })
      running.provider.script({ ...limited, status })
      assert.equal((await ask(running.port, { body: chatBody })).status, 200)
      assert.deepEqual(
        running.settled[0]?.attempts.map((attempt) => [attempt.upstream, attempt.status]),
        [
          ['first', status],
          ['second', 200],
        ],
      )
      clock.advance(19_000)
      await ask(running.port, { body: chatBody })
      assert.deepEqual(running.settled[1]?.attempts, [
        { upstream: 'second', address: '127.0.0.1', status: 200, error: null },
      ])
      assert.deepEqual(
        healthIn(running).map(({ name, ready, wait_seconds }) => [name, ready, wait_seconds]),
        [
          ['first', false, 1],
          ['second', true, 0],
        ],
      )
      clock.advance(1_000)
      await ask(running.port, { body: chatBody })
      assert.deepEqual([running.provider.requests.length, second.requests.length], [2, 2])
    }
  })
  it('is asked all the same where every stand-in rests, or speaks another dialect', async () => {
    await using second = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [
        anUpstream('first', url, { fallback: ['second', 'other'], fallback_on: [429] }),
        anUpstream('second', second.url, { fallback: ['first'], fallback_on: [429] }),
        anUpstream('other', second.url, { styles: ['messages'] }),
      ],
    })
    running.provider.script(limited, isUp)
    second.script(limited)
    const refused = await ask(running.port, { body: chatBody })
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '20'])
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    assert.deepEqual([running.provider.requests.length, second.requests.length], [2, 1])
  })
  it('takes the next key first, and a stand-in once all of them rest', async () => {
    const clock = fakeClock()
    await using second = await fakeProvider()
    await using running = await start({
      clock,
      upstreams: (url) => [
        anUpstream('first', url, {
          api_keys: ['key-one-abcdefgh', 'key-two-abcdefgh'],
          fallback: ['second'],
          fallback_on: [429],
        }),
        anUpstream('second', second.url),
      ],
    })
    running.provider.script(limited, { ...limited, headers: { 'retry-after': '5' } })
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    assert.deepEqual(
      running.settled[0]?.attempts.map(({ upstream, status }) => [upstream, status]),
      [
        ['first', 429],
        ['first', 429],
        ['second', 200],
      ],
    )
    clock.advance(4_999)
    await ask(running.port, { body: chatBody })
    assert.equal(second.requests.length, 2)
    clock.advance(1)
    await ask(running.port, { body: chatBody })
    assert.equal(second.requests.length, 2, 'the key that rested the shortest is used again')
  })
  it('holds for listed statuses alone', async () => {
    await using second = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [
        anUpstream('first', url, { fallback: ['second'], fallback_on: [401] }),
        anUpstream('second', second.url),
      ],
    })
    running.provider.script(limited, { status: 403 }, { status: 503 })
    assert.equal((await ask(running.port, { body: chatBody })).status, 429)
    assert.equal((await ask(running.port, { body: chatBody })).status, 403)
    assert.equal((await ask(running.port, { body: chatBody })).status, 200, 'a server that fails, as ever')
  })
  it('never holds for what is said of a client’s own login, which no stand-in gets', async () => {
    await using second = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [
        anUpstream('first', url, {
          auth: 'passthrough',
          fallback: ['second'],
          fallback_on: [401, 402, 403, 429, 418],
        }),
        anUpstream('second', second.url, { api_key: 'key-of-the-stand-in' }),
      ],
    })
    const mine = {
      key: null,
      body: chatBody,
      headers: { authorization: 'Bearer my-own-login-123', 'x-guard-key': KEY },
    }
    for (const status of [401, 402, 403, 429]) {
      running.provider.script({ ...limited, status })
      assert.equal((await ask(running.port, mine)).status, status)
    }
    assert.deepEqual([running.provider.requests.length, second.requests.length], [4, 0])
    assert.equal(healthIn(running)[0]?.ready, true)
    running.provider.script({ status: 418 })
    assert.equal((await ask(running.port, mine)).status, 200)
    const { headers } = second.last
    assert.ok(!headers.some((text) => text.includes('my-own-login')))
    assert.ok(headers.includes('Bearer key-of-the-stand-in'))
  })
})

describe('a circuit', () => {
  it('opens after so many failures in a row: nothing is sent, and the client is told for how long', async () => {
    const clock = fakeClock()
    await using running = await start({
      clock,
      upstreams: (url) => [anUpstream('main', url, { circuit: { failures: 3, open_seconds: 10 } })],
    })
    running.provider.script({ status: 500 }, {}, { status: 503 }, { reset: true }, { status: 529 })
    const statuses: number[] = []
    for (let turn = 0; turn < 5; turn++) statuses.push((await ask(running.port, { body: chatBody })).status)
    assert.deepEqual(statuses, [500, 200, 503, 502, 529])
    clock.advance(4_000)
    const got = await ask(running.port, { body: chatBody })
    assert.deepEqual([got.status, got.headers['retry-after']], [503, '6'])
    assert.match(got.body.toString(), /CIRCUIT_OPEN.*"main\\" has failed 3 times/)
    assert.equal(running.provider.requests.length, 5)
    const settled = running.settled.at(-1)
    assert.deepEqual(
      [settled?.outcome, settled?.attempts],
      ['unreachable', [{ upstream: 'main', status: null, error: 'CIRCUIT_OPEN' }]],
    )
    const [health] = healthIn(running)
    assert.deepEqual([health?.circuit, health?.failures, health?.wait_seconds, health?.ready], ['open', 3, 6, false])
  })
  it('lets one request through when its time is over; that closes it, or opens it anew', async () => {
    const clock = fakeClock()
    await using running = await start({
      clock,
      upstreams: (url) => [anUpstream('main', url, { circuit: { failures: 1, open_seconds: 10 } })],
    })
    const answer = Promise.withResolvers<void>()
    running.provider.script({ status: 500 }, { until: answer.promise, status: 500 })
    await ask(running.port, { body: chatBody })
    clock.advance(10_000)
    assert.equal(healthIn(running)[0]?.circuit, 'half_open')
    const arrived = running.provider.next()
    const probe = ask(running.port, { body: chatBody })
    await arrived
    assert.equal((await ask(running.port, { body: chatBody })).status, 503, 'one at a time')
    answer.resolve()
    assert.equal((await probe).status, 500)
    assert.equal((await ask(running.port, { body: chatBody })).status, 503)
    clock.advance(10_000)
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    assert.equal(healthIn(running)[0]?.circuit, 'closed')
  })
  it('is neither opened nor closed by a client that leaves, nor by a request that cannot be sent', async () => {
    const clock = fakeClock()
    await using running = await start({
      clock,
      upstreams: (url) => [
        anUpstream('main', url, { circuit: { failures: 1, open_seconds: 10 }, paths: { chat_completions: '/a b' } }),
      ],
    })
    assert.equal((await ask(running.port, { body: chatBody })).status, 502)
    assert.equal(healthIn(running)[0]?.circuit, 'closed')
  })
  it('sends requests to a stand-in while it is open', async () => {
    await using second = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [
        anUpstream('first', url, { fallback: ['second'], circuit: { failures: 2 } }),
        anUpstream('second', second.url),
      ],
    })
    running.provider.script({ status: 500 }, { status: 500 })
    for (let turn = 0; turn < 4; turn++) assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    assert.deepEqual([running.provider.requests.length, second.requests.length], [2, 4])
  })
  it('never opens by itself', async () => {
    await using running = await start({ upstreams: (url) => [anUpstream('main', url)] })
    running.provider.script(...Array.from({ length: 30 }, () => ({ status: 500 })))
    for (let turn = 0; turn < 30; turn++) assert.equal((await ask(running.port, { body: chatBody })).status, 500)
    assert.deepEqual([running.provider.requests.length, healthIn(running)[0]?.failures], [30, 30])
  })
})
