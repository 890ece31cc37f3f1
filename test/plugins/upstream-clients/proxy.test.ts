import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { proxyAddress } from '#lib/network'
import type { UpstreamAddress } from '#lib/upstream-client'
import { testProxy } from '../../kit/proxy.ts'
import { rawServer } from '../../kit/raw-server.ts'
import { refusingPort } from '../../kit/refusing-port.ts'
import { connectTo, hear, send } from '../../kit/upstream-client.ts'
import { certificate, privateKey } from '../upstream/localhost-certificate.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const identity = { cert: certificate, key: privateKey }
const by = (proxy: string): Partial<UpstreamAddress> => ({ proxy: proxyAddress(proxy), ca: [certificate] })

describe('a client through a proxy', () => {
  const received: { readonly headers: readonly string[]; readonly body: Buffer; readonly socket: Socket }[] = []
  const upstream = createServer(identity, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      if (request.method === 'GET') return
      const body = Buffer.concat(chunks)
      received.push({ headers: request.rawHeaders, body, socket: request.socket })
      response.writeHead(200, { 'x-named': String(request.url) }).end(body)
    })
  })
  before(async () => {
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
  })
  after(() => {
    upstream.closeAllConnections()
    upstream.close()
  })
  const target = (): number => (upstream.address() as AddressInfo).port
  const secure = { secure: true, hostname: 'localhost' }

  it('asks for a tunnel to what is behind TLS, uses it again, and changes no byte', async () => {
    await using proxy = await testProxy(target())
    proxy.login = 'us%er:p@ss word'
    const connections = connectTo(undici, 443, { ...secure, ...by(proxy.url('us%25er:p%40ss%20word')) })
    const body = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 256))
    const length = ['content-length', String(body.length)]
    for (let turn = 0; turn < 3; turn++) {
      const got = await hear(connections, { headers: ['host', 'localhost', ...length, 'X-Odd', 'a'], body })
      assert.deepEqual([got.status, got.body === body.toString('latin1'), got.ended], [200, true, 'whole'])
    }
    connections.close()
    assert.deepEqual(proxy.lines, ['CONNECT localhost:443 HTTP/1.1'])
    assert.match(proxy.heads[0] ?? '', /\r\nHost: localhost:443\r\nProxy-Authorization: Basic \S+\r\n\r\n$/)
    const [one] = received.slice(-1)
    assert.ok(one?.body.equals(body))
    assert.deepEqual(one?.headers.slice(0, 6), ['host', 'localhost', ...length, 'X-Odd', 'a'])
    assert.doesNotMatch(String(one?.headers), /proxy|via|forwarded/i)
  })
  it('sends whole URLs to what is not behind TLS, its login on each', async () => {
    await using server = await rawServer()
    await using proxy = await testProxy(server.port)
    proxy.login = 'u:p'
    for (const [port, host] of [
      [80, 'models.example'],
      [8080, 'models.example:8080'],
    ] as const) {
      const connections = connectTo(undici, port, { hostname: 'models.example', ...by(proxy.url('u:p')) })
      const headers = ['host', host, 'content-length', '2']
      assert.equal((await hear(connections, { headers })).body, 'ok')
      connections.close()
      assert.match(
        proxy.heads.at(-1) ?? '',
        new RegExp(`^POST http://${host}/v1/x\\?a=b HTTP/1\\.1\\r\\nhost: ${host}\\r\\n`),
      )
      assert.match(proxy.heads.at(-1) ?? '', /\r\nProxy-Authorization: Basic dTpw\r\n/)
    }
    assert.doesNotMatch(String(server.requests), /proxy-auth/i)
  })
  it('names IPv6 hosts in brackets', async () => {
    await using proxy = await testProxy(target())
    proxy.answer = (socket) => void socket.end('HTTP/1.1 403 No\r\n\r\n')
    await hear(connectTo(undici, 8443, { secure: true, hostname: '2001:db8::1', ...by(proxy.url()) }))
    assert.deepEqual(proxy.lines, ['CONNECT [2001:db8::1]:8443 HTTP/1.1'])
  })
  it('reaches a proxy over TLS, for both', async () => {
    await using server = await rawServer()
    await using tunnels = await testProxy(target(), identity)
    await using urls = await testProxy(server.port, identity)
    const tunnelled = connectTo(undici, 443, { ...secure, ...by(tunnels.url()) })
    assert.equal((await hear(tunnelled)).body, '{}')
    assert.equal((await hear(tunnelled)).body, '{}')
    tunnelled.close()
    assert.equal(tunnels.heads.length, 1)
    const whole = connectTo(undici, 80, { hostname: 'models.example', ...by(urls.url()) })
    assert.equal((await hear(whole)).body, 'ok')
    whole.close()
  })
  for (const [name, says] of [
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\n'],
    ['headers and a length that means nothing', `${OK}Proxy-Agent: x/1\r\ncontent-length: 5\r\nVia: 1.1 p\r\n\r\n`],
    ['chunks that mean nothing', `${OK}transfer-encoding: chunked\r\n\r\n`],
    ['no reason', 'HTTP/1.1 200\r\n\r\n'],
    ['another 2xx', 'HTTP/1.1 204 Fine\r\n\r\n'],
    ['an informational head first', `HTTP/1.1 103 Early\r\nlink: x\r\n\r\n${OK}\r\n`],
    ['lines without CR', 'HTTP/1.0 200 OK\nA: b\n\n'],
  ] as const)
    it(`takes a tunnel that is given with ${name}`, async () => {
      await using proxy = await testProxy(target())
      proxy.answer = (_socket, open) => open(says)
      const connections = connectTo(undici, 443, { ...secure, ...by(proxy.url()) })
      assert.equal((await hear(connections)).body, '{}')
      connections.close()
    })
  it('takes a reply to CONNECT byte by byte', async () => {
    await using proxy = await testProxy(target())
    proxy.answer = async (socket, open) => {
      socket.setNoDelay(true)
      for (const byte of `${OK}a: b\r\n\r`) {
        socket.write(byte)
        await new Promise(setImmediate)
      }
      open('\n')
    }
    const connections = connectTo(undici, 443, { ...secure, ...by(proxy.url()) })
    assert.equal((await hear(connections)).body, '{}')
    connections.close()
  })
  it('loses no byte that comes in one piece with the reply', async () => {
    // nobody speaks before the client in TLS, so that it fails: with what TLS makes of it
    await using proxy = await testProxy(target())
    proxy.answer = (_socket, open) => open(`${OK}\r\nSSH-2.0-surprise\r\n`)
    const { failed = '' } = await hear(connectTo(undici, 443, { ...secure, ...by(proxy.url()) }))
    assert.match(failed, /SSL|EPROTO/)
  })
  for (const [says, code, words] of [
    ['HTTP/1.1 407 Login\r\ncontent-length: 3\r\n\r\nbad', 'PROXY_LOGIN', /refuses the login it was shown \(407\)/],
    ['HTTP/1.1 403 Forbidden\r\n\r\n', 'PROXY_REFUSED', /opens no connection to localhost:443: it answered 403/],
    ['HTTP/1.1 502 Bad\r\n\r\n', 'PROXY_REFUSED', /it answered 502/],
    ['HTTP/1.1 101 Switching\r\n\r\n', 'PROXY_REFUSED', /it answered 101/],
    ['SSH-2.0-OpenSSH\r\n', 'PROXY_BROKEN', /something else than HTTP/],
    ['HTTP/2 200\r\n\r\n', 'PROXY_BROKEN', /something else than HTTP/],
    [`${OK}${'x-many: a\r\n'.repeat(10_000)}`, 'PROXY_BROKEN', /more than 65536 bytes/],
    ['HTTP/1.1 2', 'PROXY_BROKEN', /closed the connection before/],
    ['', 'PROXY_BROKEN', /closed the connection before/],
  ] as const)
    it(`fails in words where the proxy says ${JSON.stringify(says.slice(0, 30))}`, async () => {
      await using proxy = await testProxy(target())
      proxy.answer = (socket) => void socket.end(says)
      const connections = connectTo(undici, 443, { ...secure, ...by(proxy.url('bob:secret-of-bob')) })
      const asked = send(connections)
      await assert.rejects(asked.response, (error: NodeJS.ErrnoException) => {
        assert.equal(error.code, code)
        assert.match(error.message, words)
        assert.ok(error.message.includes(`the proxy http://127.0.0.1:${proxy.port} `), error.message)
        assert.doesNotMatch(error.message, /bob|secret/)
        return true
      })
      await asked.over
      assert.deepEqual(asked.counts, { answered: 0, failed: 1, over: 1 })
    })
  it('tells a proxy that wants a login where it takes whole URLs from an answer of the upstream', async () => {
    await using server = await rawServer()
    await using proxy = await testProxy(server.port)
    proxy.login = 'u:p'
    const connections = connectTo(undici, 80, { hostname: 'models.example', ...by(proxy.url()) })
    const asked = send(connections)
    await assert.rejects(asked.response, /wants a login \(407\)/)
    await asked.over
    assert.deepEqual(asked.counts, { answered: 0, failed: 1, over: 1 })
    assert.equal(server.requests.length, 0)
  })
  it('says that it is the proxy that is not reached', async () => {
    await using refusing = await refusingPort()
    for (const to of [secure, { hostname: 'models.example' }]) {
      const { response } = send(connectTo(undici, 443, { ...to, ...by(`http://127.0.0.1:${refusing.port}`) }))
      await assert.rejects(response, /the proxy http:\/\/127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/)
    }
  })
  it('does not trust a proxy over TLS more than others', async () => {
    await using proxy = await testProxy(target(), identity)
    for (const to of [secure, { hostname: 'models.example' }]) {
      const { response } = send(connectTo(undici, 443, { ...to, proxy: proxyAddress(proxy.url()) }))
      await assert.rejects(
        response,
        /the proxy https:\/\/localhost:\d+ cannot be reached: .*DEPTH_ZERO_SELF_SIGNED_CERT/,
      )
    }
    assert.equal(proxy.heads.length, 0)
  })
  it('does not trust an upstream more because a proxy leads to it', async () => {
    await using proxy = await testProxy(target())
    const heard = await hear(connectTo(undici, 443, { ...secure, proxy: proxyAddress(proxy.url()) }))
    assert.deepEqual(heard, { failed: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    const other = await hear(connectTo(undici, 443, { secure: true, hostname: 'other.example', ...by(proxy.url()) }))
    assert.deepEqual(other, { failed: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })
  it('waits for a proxy, and for TLS behind it, as long as a connection may take', async () => {
    await using silent = await testProxy(target())
    silent.answer = () => {}
    await using mute = await rawServer()
    mute.otherwise = () => {}
    await using deaf = await testProxy(mute.port)
    for (const proxy of [silent, deaf]) {
      const { response } = send(connectTo(undici, 443, { ...secure, ...by(proxy.url()), connect_ms: 40 }))
      await assert.rejects(response, { code: 'CONNECT_TIMEOUT', message: /through the proxy http:\S+ within 40 ms/ })
    }
  })
  it('gives a tunnel up that nobody waits for any more', async () => {
    await using proxy = await testProxy(target())
    const { promise: asked, resolve } = Promise.withResolvers<Socket>()
    proxy.answer = (socket) => resolve(socket)
    const connections = connectTo(undici, 443, { ...secure, ...by(proxy.url()) })
    const one = send(connections)
    const socket = await asked
    const closed = once(socket, 'close')
    one.exchange.stop(new Error('enough'))
    await assert.rejects(one.response, /enough/)
    connections.close()
    await closed
  })
  it('streams, and a reader that leaves closes the tunnel', async () => {
    await using proxy = await testProxy(target())
    const { promise: open, resolve } = Promise.withResolvers<Socket>()
    upstream.once('request', (_request, response) => {
      response.writeHead(200).write('first')
      resolve(response.socket as Socket)
    })
    const connections = connectTo(undici, 443, { ...secure, ...by(proxy.url()) })
    const asked = send(connections, { method: 'GET', body: undefined, headers: ['host', 'localhost'] })
    const { body } = await asked.response
    const closed = once(await open, 'close')
    assert.ok(!(body instanceof Uint8Array))
    body.destroy()
    await closed
    await asked.over
    connections.close()
  })
})
