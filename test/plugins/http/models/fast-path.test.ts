import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fastifyPlugin from 'fastify-plugin'
import type { Plugin } from 'guard-gateway/core'
import { docs } from 'guard-gateway/plugins/docs'
import { serverStateOf } from '../../../../plugins/http/http-server-state.ts'
import { ask, chatBody, jsonOf, start } from '../kit.ts'

const seen: string[] = []
const hooking = (
  name: string,
  apply: Parameters<Parameters<Plugin['apply']>[0]['hooks']['http']['tap']>[1],
): Plugin => ({
  name,
  apply: (gateway) => gateway.hooks.http.tap(name, apply),
})

const plugins: readonly Plugin[] = [
  hooking('asked', (app) => void app.addHook('onRequest', async ({ url }) => void seen.push(`asked ${url}`))),
  hooking('answered', (app) => void app.addHook('onResponse', async ({ url }) => void seen.push(`answered ${url}`))),
  hooking('shared', async (app) => {
    const shared = fastifyPlugin(async (scope) => {
      scope.addHook('onRequest', async ({ url }) => void seen.push(`shared ${url}`))
    })
    await app.register(shared)
  }),
  {
    name: 'routed',
    apply: (gateway) =>
      gateway.hooks.http.tap({ name: 'routed', stage: -1 }, (app) => {
        app.addHook('onRoute', (route) => {
          const also = async ({ url }: { readonly url: string }) => void seen.push(`routed ${url}`)
          route.onRequest = [also, ...[route.onRequest ?? []].flat()]
        })
      }),
  },
  hooking('alone', async (app) => {
    await app.register(async (scope) => {
      scope.addHook('onRequest', async () => void seen.push('alone'))
    })
  }),
]

describe('a plugin that hooks into the requests of the framework', () => {
  for (const plugin of plugins) {
    it(`sees those of models, too, if its scope is theirs (${plugin.name})`, async () => {
      seen.length = 0
      await using running = await start({ plugins: [plugin] })
      const got = await ask(running.port, { body: chatBody })
      assert.equal(got.status, 200)
      assert.equal(running.settled[0]?.call.id, got.headers['x-guard-request-id'])
      assert.deepEqual(seen, plugin.name === 'alone' ? [] : [`${plugin.name} /v1/chat/completions`])
    })
  }
})

describe('a plugin that only examines routes', () => {
  it('leaves the requests of models ahead of the framework', async () => {
    await using running = await start({ plugins: [docs({ version: '1.0.0' })] })
    assert.equal(serverStateOf(running.gateway).hasRequestHooks, false)
  })
})

describe('a style of a plugin', () => {
  const elsewhere: Plugin = {
    name: 'elsewhere',
    apply: (gateway) =>
      gateway.apiStyles.add({
        ...gateway.apiStyles.need('chat_completions'),
        id: 'elsewhere',
        paths: ['/v1/completions'],
      }),
  }
  it('has model paths as those of our own, however they are spelled', async () => {
    await using running = await start({ plugins: [elsewhere], upstream: { styles: ['elsewhere'] } })
    for (const path of ['/v1/completions', '/completions', '/v1/v1/completions/']) {
      assert.equal((await ask(running.port, { path, body: chatBody })).status, 200)
      assert.equal(running.provider.last.path, '/v1/completions')
      const keyless = await ask(running.port, { path, body: chatBody, key: null })
      assert.deepEqual([keyless.status, jsonOf(keyless).error.param], [401, null])
    }
  })
})
