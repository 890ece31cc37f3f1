import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { it } from 'node:test'
import { startGateway } from '../kit/gateway.ts'
import { FakeProvider } from '../kit/provider.ts'

it('a gateway connects to its upstream, and to nobody else', async () => {
  const asked = new Set<string>()
  const note = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket }
    socket.once('connect', () => asked.add(`${socket.remoteAddress}:${socket.remotePort}`))
    socket.once('lookup', (_error, _address, _family, host) => asked.add(host))
  }
  subscribe('net.client.socket', note)
  const provider = await new FakeProvider().listen()
  const gateway = await startGateway({ upstream: provider.url })
  try {
    const own = new URL(gateway.url).host
    for (const path of ['/', '/replay', '/mcp', '/docs', '/docs/guide', '/metrics', '/api/health', '/api/v1/prices'])
      assert.equal((await gateway.request('GET', path, undefined, { accept: 'text/html, */*' })).status, 200, path)
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }
    assert.equal((await gateway.request('POST', '/v1/chat/completions', body)).status, 200)
    assert.equal((await gateway.request('POST', '/api/demo/run', { scenario: 'exact-loop' })).status, 200)
    asked.delete(own)
    assert.deepEqual([...asked], [new URL(provider.url).host])
  } finally {
    unsubscribe('net.client.socket', note)
    await gateway.close()
    await provider.close()
  }
})
