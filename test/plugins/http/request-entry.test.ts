import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Gateway, Plugin } from 'guard-gateway/core'
import { ownPluginKind } from '#lib/plugin-options'
import { ask, chatBody, jsonOf, start } from './kit.ts'

/** A plugin with a route, which counts how often its routes are added. */
const routed = (added: string[], fail = false): Plugin => ({
  name: 'routed',
  apply: (gateway: Gateway) =>
    gateway.hooks.http.tapPromise('routed', async (app) => {
      added.push('routed')
      if (fail) throw new Error('no routes today')
      app.get('/api/routed', async () => ({ is: 'here' }))
    }),
})

/** A plugin that a user has named in the configuration. */
const owned = (plugin: Plugin): Plugin => ({
  ...plugin,
  apply(gateway) {
    gateway.registry(ownPluginKind).add({ id: plugin.name, file: '/mine.ts', given: [] })
    plugin.apply(gateway)
  },
})

describe('a gateway that loads its routes when they are needed', () => {
  it('serves models, their lists, what passes and probes without them', async () => {
    const added: string[] = []
    await using running = await start({ plugins: [routed(added)], isLazy: true })
    for (const path of ['/v1/chat/completions', '/chat/completions', '/v1/messages/count_tokens'])
      assert.equal((await ask(running.port, { path, body: chatBody })).status, 200)
    for (const path of ['/v1/models', '/models/', '/livez', '/readyz'])
      assert.equal((await ask(running.port, { method: 'GET', path })).status, 200)
    assert.deepEqual(added, [])
  })

  it('loads them once for requests that come at the same time, and answers each', async () => {
    const added: string[] = []
    await using running = await start({ plugins: [routed(added)], isLazy: true })
    const paths = ['/api/routed', '/api/health', '/api/routed', '/nowhere', '/v1/nowhere']
    const got = await Promise.all(paths.map((path) => ask(running.port, { method: 'GET', path })))
    assert.deepEqual(
      got.map(({ status }) => status),
      [200, 200, 200, 404, 404],
    )
    assert.deepEqual(jsonOf(got[0] as never), { is: 'here' })
    assert.deepEqual(added, ['routed'])
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
  })

  it('refuses a model request as a gateway that has them', async () => {
    const answers = []
    for (const isLazy of [true, false]) {
      await using running = await start({ isLazy })
      const { status, headers, body } = await ask(running.port, { body: chatBody, headers: { host: 'evil.example' } })
      answers.push([status, Object.keys(headers), String(body)])
    }
    assert.deepEqual(answers[0], answers[1])
  })

  it('goes on with models where routes cannot be added, and says so in the log', async () => {
    await using running = await start({ plugins: [routed([], true)], isLazy: true })
    for (let turn = 0; turn < 2; turn++) {
      const got = await ask(running.port, { method: 'GET', path: '/api/health' })
      assert.deepEqual([got.status, jsonOf(got).error.code], [500, 'INTERNAL'])
    }
    assert.match(running.log.join('\n'), /http:routed.*no routes today/)
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
  })

  it('adds the routes of a plugin of the user’s before it listens', async () => {
    const added: string[] = []
    await using running = await start({ plugins: [owned(routed(added))], isLazy: true })
    assert.deepEqual(added, ['routed'])
    assert.equal((await ask(running.port, { method: 'GET', path: '/api/routed' })).status, 200)
    await assert.rejects(start({ plugins: [owned(routed([], true))], isLazy: true }), { message: 'no routes today' })
  })
})
