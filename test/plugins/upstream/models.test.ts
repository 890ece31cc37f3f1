import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fakeProvider } from '../../kit/provider.ts'
import { ask, jsonOf, start } from '../http/kit.ts'
import { anUpstream } from './kit.ts'

const list = (...ids: readonly string[]): string =>
  JSON.stringify({ object: 'list', data: ids.map((id) => ({ id, created: 5, owned_by: 'x' })) })

describe('model lists of several upstreams', () => {
  it('are merged: what routes to each, in order, the first of a name', async () => {
    await using second = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [anUpstream('one', url, { models: ['a-*'] }), anUpstream('two', second.url)],
    })
    running.provider.script({ body: list('a-1', 'b-1', 'a-1') })
    second.script({ body: list('b-2', 'a-2', 'b-3') })
    const got = jsonOf(await ask(running.port, { method: 'GET', path: '/v1/models' }))
    assert.deepEqual(got, {
      object: 'list',
      data: [
        { id: 'a-1', object: 'model', created: 5, owned_by: 'one' },
        { id: 'b-2', object: 'model', created: 5, owned_by: 'two' },
        { id: 'b-3', object: 'model', created: 5, owned_by: 'two' },
      ],
    })
    await ask(running.port, { method: 'GET', path: '/v1/models' })
    assert.equal(running.provider.requests.length, 1, 'a list is remembered')
  })
  it('have the form of the Messages API for its clients', async () => {
    await using second = await fakeProvider()
    await using running = await start({ upstreams: (url) => [anUpstream('one', url), anUpstream('two', second.url)] })
    const models = [
      { type: 'model', id: 'm-1', display_name: 'One', created_at: '2025-01-01T00:00:00Z' },
      { id: 'm-2' },
      { name: 'none' },
    ]
    running.provider.script({ body: JSON.stringify({ data: models }) })
    for (const header of ['anthropic-version', 'provider-version']) {
      const got = jsonOf(
        await ask(running.port, { method: 'GET', path: '/v1/models?limit=5', headers: { [header]: '2023-06-01' } }),
      )
      assert.deepEqual(got, {
        data: [
          { type: 'model', id: 'm-1', display_name: 'One', created_at: '2025-01-01T00:00:00Z' },
          { type: 'model', id: 'm-2', display_name: 'm-2', created_at: '1970-01-01T00:00:00.000Z' },
        ],
        has_more: false,
        first_id: 'm-1',
        last_id: 'm-2',
      })
    }
    assert.equal(running.provider.last.path, '/v1/models?limit=1000')
  })
  it('wait 3 s for an upstream, and give its connection up then', { timeout: 60_000 }, async (t) => {
    await using second = await fakeProvider()
    await using running = await start({ upstreams: (url) => [anUpstream('one', url), anUpstream('two', second.url)] })
    const asked = [running.provider, second].map((provider) => provider.script({ silent: true }).next())
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const answer = ask(running.port, { method: 'GET', path: '/v1/models' })
    const received = await Promise.all(asked)
    t.mock.timers.tick(3_000)
    await Promise.all(received.map(({ closed }) => closed))
    assert.equal((await answer).status, 502)
  })
  it('wait no longer for an upstream than its own timeouts allow', { timeout: 60_000 }, async (t) => {
    await using second = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [
        anUpstream('one', url, { timeouts: { headers_ms: 500 } }),
        anUpstream('two', second.url, { timeouts: { total_ms: 500 } }),
      ],
    })
    const asked = [running.provider, second].map((provider) => provider.script({ silent: true }).next())
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const answer = ask(running.port, { method: 'GET', path: '/v1/models' })
    const received = await Promise.all(asked)
    t.mock.timers.tick(500)
    await Promise.all(received.map(({ closed }) => closed))
    assert.equal((await answer).status, 502)
  })
  it('leave out an upstream that fails; all failing is 502', async () => {
    await using second = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [anUpstream('one', url, { models: ['a-*'] }), anUpstream('two', second.url)],
    })
    running.provider.script({ status: 500 }, { body: 'no json' })
    second.script({ body: list('b-1') }, { status: 401 })
    const got = jsonOf(await ask(running.port, { method: 'GET', path: '/v1/models' }))
    assert.deepEqual(got.data, [{ id: 'b-1', object: 'model', created: 5, owned_by: 'two' }])
    await using bare = await start({
      upstreams: () => [anUpstream('x', 'http://127.0.0.1:1'), anUpstream('y', 'http://127.0.0.1:1')],
    })
    const failed = await ask(bare.port, { method: 'GET', path: '/v1/models' })
    assert.deepEqual([failed.status, jsonOf(failed).error.code], [502, 'UPSTREAM_UNREACHABLE'])
  })
})
