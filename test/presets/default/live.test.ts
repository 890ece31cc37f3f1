import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { serve } from 'guard-gateway/plugins/http'
import { createGateway, loadConfig } from 'guard-gateway/presets/default'
import { reload } from '../../../presets/default/reload.ts'

const key = 'guard_0123456789abcdef'

/** A provider that answers everything with its own name. */
const provider = async (name: string) => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          content: [{ type: 'text', text: name }],
          usage: { input_tokens: 1, output_tokens: 1 },
        }),
      )
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, close }
}

describe('a gateway with a changing configuration', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-live-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('uses the new upstream and mode for the next request, and keeps both after an invalid change', async () => {
    const file = join(folder, 'guard-config.yml')
    const [red, blue] = [await provider('red'), await provider('blue')]
    const configure = (url: string, more: string) =>
      writeFile(
        file,
        `gateway_key: ${key}\nserver: { port: 0 }\nstorage: { backend: memory }\nupstreams: [{ name: one, base_url: "${url}", styles: [messages] }]\n${more}`,
        { mode: 0o600 },
      )
    await configure(red.url, '')
    const started = (await loadConfig(file, {})).config
    const live = { ...started }
    let tick = 0
    const gateway = await createGateway(
      live,
      [reload({ file, env: {}, live, started, done: () => {}, notice: () => {} })],
      undefined,
      {
        now: () => Date.now(),
        tick: () => tick,
      },
    )
    const server = await serve(gateway, { port: 0, log: { write: () => {} } })
    const ask = async () => {
      tick += 1_000
      const response = await fetch(`${server.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key, 'x-guard-session-id': 'one' },
        body: JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'again' }] }),
      })
      const { content, error } = (await response.json()) as { content?: { text: string }[]; error?: { code: string } }
      return [response.status, response.headers.get('x-guard-decision'), content?.[0]?.text ?? error?.code]
    }
    try {
      assert.deepEqual(await ask(), [200, 'allow', 'red'])
      await configure(blue.url, '')
      assert.deepEqual(await ask(), [200, 'allow', 'blue'])
      assert.deepEqual(await ask(), [200, 'shadow_flag', 'blue'])
      await configure(blue.url, 'default_mode: enforce\n')
      assert.deepEqual(await ask(), [429, 'block', 'LOOP_EXACT'])
      await configure(red.url, 'default_mode: sahdow\n')
      assert.deepEqual(await ask(), [429, 'block', 'LOOP_EXACT'])
      const { config } = (await (await fetch(`${server.url}/api/health`)).json()) as {
        config: { generation: number; error: { line: number } }
      }
      assert.equal(config.generation, 3)
      assert.equal(config.error.line, 5)
    } finally {
      await server.close()
      for (const { close } of [red, blue]) close()
    }
  })

  it('serves a new passthrough path within a second, without other requests', async () => {
    const file = join(folder, 'passthrough.yml')
    const here = await provider('here')
    const configure = (more: string) =>
      writeFile(
        file,
        `gateway_key: ${key}\nserver: { port: 0 }\nstorage: { backend: memory }\nupstreams: [{ name: one, base_url: "${here.url}", styles: [chat_completions] }]\n${more}`,
        { mode: 0o600 },
      )
    await configure('')
    const started = (await loadConfig(file, {})).config
    const live = { ...started }
    const { promise: inForce, resolve: done } = Promise.withResolvers<string>()
    const gateway = await createGateway(live, [reload({ file, env: {}, live, started, done, notice: done })])
    const server = await serve(gateway, { port: 0, log: { write: () => {} } })
    const ask = async () => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
      return (await fetch(`${server.url}/v1/embeddings`, { method: 'POST', headers, body: '{"model":"m"}' })).status
    }
    try {
      assert.equal(await ask(), 404)
      await configure('passthrough: [/v1/embeddings]\n')
      assert.equal(await inForce, 'The changed configuration is in force.')
      assert.equal(await ask(), 200)
    } finally {
      await server.close()
      here.close()
    }
  })
})
