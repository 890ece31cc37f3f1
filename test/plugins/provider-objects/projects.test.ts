import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseConfig } from '../../../presets/default/config.ts'
import { socketClient } from '../../kit/socket-client.ts'
import { socketProvider } from '../../kit/socket-provider.ts'
import { remote } from '../access/kit.ts'
import { accountProvider } from './account-provider.ts'

describe('upstreams of some projects alone', () => {
  it('get the requests of these, also lists of their account, and no others', async () => {
    const own = await accountProvider()
    const rest = await accountProvider()
    const config = `upstreams:
  - { name: own, base_url: "${own.url}", styles: [responses], projects: [alpha], fallback: [bravo] }
  - { name: bravo, base_url: "${rest.url}", styles: [responses], projects: [bravo] }
passthrough: [/v1/files]
`
    const running = await remote({ config })
    try {
      const key = async (project: string) => (await running.key(['models'], [project], project)).key
      const [alpha, bravo, other] = [await key('alpha'), await key('bravo'), await key('other')]
      const post = (key: string, body = { model: 'm-1', input: 'go' }) =>
        running.ask('/v1/responses', { method: 'POST', key, body })
      assert.equal((await post(alpha)).status, 200)
      assert.equal((await post(bravo)).status, 200)
      assert.deepEqual([own.requests, rest.requests], [['POST /v1/responses'], ['POST /v1/responses']])
      const none = await post(other)
      assert.equal(none.status, 404)
      assert.match(none.text, /for project \\"other\\"; there is none/)
      assert.equal((await running.ask('/v1/responses/resp_x', { key: other })).status, 404)
      assert.equal((await running.ask('/v1/files', { key: alpha })).status, 200)
      await own.close()
      assert.equal((await post(alpha)).status, 502, 'the stand-in is for another project')
      assert.equal(rest.requests.length, 1)
    } finally {
      await running[Symbol.asyncDispose]()
      await own.close().catch(() => {})
      await rest.close()
    }
  })

  it('get the WebSockets of these, and no others', async () => {
    const own = await socketProvider()
    const rest = await socketProvider()
    const running = await remote({
      config: `upstreams:
  - { name: own, base_url: "${own.url}", styles: [responses], auth: none, projects: [alpha], fallback: [bravo] }
  - { name: bravo, base_url: "${rest.url}", styles: [responses], auth: none, projects: [bravo] }
`,
    })
    try {
      const { key: both } = await running.key(['models'], ['alpha', 'bravo'], 'both')
      const { key: other } = await running.key(['models'], ['other'], 'other')
      const open = (key: string, project: string) =>
        socketClient({ url: running.url, key }, { 'x-guard-project-id': project })
      for (const [project, provider] of [
        ['alpha', own],
        ['bravo', rest],
      ] as const) {
        using client = await open(both, project)
        client.create(project)
        assert.equal((await client.end()).type, 'response.completed')
        assert.deepEqual(
          provider.creates.map(({ input }) => input),
          [project],
        )
      }
      await assert.rejects(open(other, 'other'), /426/)
      assert.deepEqual([own.handshakes.length, rest.handshakes.length], [1, 1])
      await own.close()
      await assert.rejects(open(both, 'alpha'), /502/)
      assert.equal(rest.handshakes.length, 1, 'the stand-in is for another project')
    } finally {
      await running[Symbol.asyncDispose]()
      await own.close().catch(() => {})
      await rest.close()
    }
  })

  it('are told of where they leave a project without any', async () => {
    const upstream = '{ name: a, base_url: "http://127.0.0.1:1", styles: [responses], auth: none, projects: [alpha] }'
    const text = `gateway_key: guard_0123456789abcdef\nupstreams: [${upstream}]\n`
    const { warnings } = await parseConfig(text, 'guard-config.yml', {})
    assert.ok(warnings.some((warning) => warning.startsWith('No upstream serves project default')))
  })
})

describe('an object in a message of a WebSocket', () => {
  it('is 404 for another team, in requests and in other messages', async () => {
    const provider = await socketProvider()
    const running = await remote({
      config: `upstreams: [{ name: main, base_url: "${provider.url}", styles: [responses], auth: none }]\n`,
    })
    try {
      const open = async (project: string) => {
        const { key } = await running.key(['models'], [project], project)
        return socketClient({ url: running.url, key })
      }
      using bravo = await open('bravo')
      bravo.create('a secret')
      const { response } = await bravo.end()
      const { id } = response as { id: string }
      using alpha = await open('alpha')
      for (const message of [
        { type: 'response.create', model: 'm-1', input: 'repeat', previous_response_id: id },
        { type: 'response.steer', previous_response_id: id, input: 'repeat' },
        { type: 'response.cancel', response_id: id },
      ]) {
        alpha.send(message)
        const refused = await alpha.end()
        assert.deepEqual([refused.type, refused.status], ['error', 404], message.type)
      }
      bravo.create('go on', { previous_response_id: id })
      assert.equal((await bravo.end()).type, 'response.completed')
    } finally {
      await running[Symbol.asyncDispose]()
      await provider.close()
    }
  })
})

describe('a reply that names nothing that is asked for again', () => {
  it('puts nothing on record', async () => {
    const provider = await accountProvider()
    const config = `upstreams: [{ name: main, base_url: "${provider.url}", styles: [chat_completions], auth: none }]\n`
    const running = await remote({ config })
    try {
      const { key } = await running.key(['models'], ['alpha'], 'alpha')
      const { storage } = running.gateway
      const rowsAfter = async (store?: boolean | null) => {
        const body = { model: 'm-1', messages: [{ role: 'user', content: 'go' }], store }
        assert.equal((await running.ask('/v1/chat/completions', { method: 'POST', key, body })).status, 200)
        await storage.flush()
        return (await storage.find('provider_objects')).rows.length
      }
      for (const store of [undefined, null, false]) assert.equal(await rowsAfter(store), 0, String(store))
      assert.equal(await rowsAfter(true), 1)
    } finally {
      await running[Symbol.asyncDispose]()
      await provider.close()
    }
  })
})
