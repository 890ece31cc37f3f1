import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ws } from 'guard-gateway/plugins/upstream-sockets/ws'
import type { UpstreamAddress } from '#lib/upstream-client'
import { authority } from '../../kit/private-authority.ts'
import { TestProxy } from '../../kit/proxy.ts'
import { type SocketProvider, socketProvider } from '../../kit/socket-provider.ts'
import { tlsFront } from '../../kit/tls-front.ts'

const portOf = ({ url }: SocketProvider): number => Number(new URL(url).port)

const dial = (address: Partial<UpstreamAddress> & { readonly port: number }) =>
  ws.dial(
    {
      address: { secure: false, hostname: 'localhost', connect_ms: 5_000, idle_ms: 5_000, ...address },
      path: '/v1/responses',
      headers: ['host', 'localhost'],
      compress: false,
      max_bytes: 100_000,
      handshake_ms: 5_000,
    },
    new AbortController().signal,
  )

/** A message goes up and one comes down. */
const works = async (dialled: Awaited<ReturnType<typeof dial>>, provider: SocketProvider): Promise<void> => {
  assert.ok(dialled.socket)
  const { promise, resolve } = Promise.withResolvers<string>()
  dialled.socket.listen({ message: (bytes) => resolve(String(bytes)), taken() {}, closed() {} })
  dialled.socket.send(Buffer.from('{"type":"response.create","model":"m","input":"x"}'))
  assert.match(await promise, /"response\.created"/)
  assert.equal(provider.handshakes.length, 1)
  dialled.socket.destroy()
}

describe('a WebSocket', () => {
  it('leads through TLS, whose authority is trusted', async () => {
    await using provider = await socketProvider()
    await using front = await tlsFront(portOf(provider))
    await works(await dial({ secure: true, port: front.port, ca: [authority] }), provider)
  })
  it('is not opened where the authority is not trusted', async () => {
    await using provider = await socketProvider()
    await using front = await tlsFront(portOf(provider))
    await assert.rejects(dial({ secure: true, port: front.port }), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
    assert.equal(provider.handshakes.length, 0)
  })
  for (const secure of [false, true])
    it(`leads through a tunnel of a proxy, ${secure ? 'with' : 'without'} TLS inside`, async () => {
      await using provider = await socketProvider()
      await using front = await tlsFront(portOf(provider))
      const port = secure ? front.port : portOf(provider)
      await using proxy = await new TestProxy(port).listen()
      const way = { secure: false, hostname: '127.0.0.1', port: proxy.port, label: proxy.url() }
      await works(await dial({ secure, hostname: 'models.example', port, proxy: way, ca: [authority] }), provider)
      assert.deepEqual(proxy.lines, [`CONNECT models.example:${port} HTTP/1.1`])
    })
  it('is not opened where the proxy refuses', async () => {
    await using proxy = await new TestProxy(1).listen()
    proxy.answer = (client) => client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const way = { secure: false, hostname: '127.0.0.1', port: proxy.port, label: proxy.url() }
    await assert.rejects(dial({ port: 443, proxy: way }), (error: NodeJS.ErrnoException) =>
      /^PROXY_/.test(error.code ?? ''),
    )
  })
})
