import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { describe, it } from 'node:test'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { readInto } from 'guard-gateway/core'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { upstreamClientConforms } from '../../conformance/upstream-client.ts'
import { rawServer } from '../../kit/raw-server.ts'
import { connectTo, hear, send } from '../../kit/upstream-client.ts'
import { certificate, privateKey } from '../upstream/localhost-certificate.ts'

upstreamClientConforms(undici)

const OK = 'HTTP/1.1 200 OK\r\n'

describe('the client of undici', () => {
  it('tells a body that comes with its head whole, and any other in pieces', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    for (const [says, isWhole] of [
      [`${OK}content-length: 2\r\n\r\nok`, true],
      [`${OK}transfer-encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n`, true],
      ['HTTP/1.1 204 No\r\n\r\n', true],
      [`${OK}content-length: 3\r\n\r\nok`, false],
      [`${OK}transfer-encoding: chunked\r\n\r\n2\r\nok\r\n`, false],
    ] as const) {
      server.script(says)
      const { body } = await send(connections).response
      assert.equal(body instanceof Uint8Array, isWhole, says)
    }
    connections.close()
  })
  it('holds a server back whose answer nobody has begun to read', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    const size = 32_000_000
    server.script((socket) => socket.write(`${OK}content-length: ${size}\r\n\r\n`) && socket.write(Buffer.alloc(size)))
    const { body } = await send(connections).response
    assert.ok(!(body instanceof Uint8Array))
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
    assert.ok((server.sockets[0]?.writableLength ?? 0) > 0)
    let told = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    const data = (chunk: Uint8Array) => {
      told += chunk.length
    }
    readInto(body, { data, end: resolve, cut: assert.fail })
    await promise
    assert.equal(told, size)
    connections.close()
  })
  it('tells nothing more to a reader that gives its body up within a piece', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    server.script(`${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n`)
    const asked = send(connections)
    const { body } = await asked.response
    server.sockets[0]?.write('1\r\nb\r\n1\r\nc\r\n0\r\n\r\n')
    assert.ok(!(body instanceof Uint8Array))
    const told: string[] = []
    const data = (chunk: Uint8Array) => {
      told.push(Buffer.from(chunk).toString())
      if (told.length === 2) body.destroy()
    }
    readInto(body, { data, end: assert.fail, cut: assert.fail })
    await asked.over
    assert.deepEqual(told, ['a', 'b'])
    assert.equal((await hear(connections)).body, 'ok')
    connections.close()
  })
  it('tells nothing more to a reader that gives its body up within what had come before', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    server.script(`${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n`)
    const asked = send(connections)
    const { body } = await asked.response
    assert.ok(!(body instanceof Uint8Array))
    let told = 0
    const data = () => {
      told++
      body.destroy()
    }
    readInto(body, { data, end: assert.fail, cut: assert.fail })
    await asked.over
    assert.equal(told, 1)
    connections.close()
  })
  it('refuses codings that undici passes on', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    for (const coding of ['chunked\r\ntransfer-encoding: chunked', 'gzip, chunked', 'identity', 'gzip']) {
      server.script(`${OK}transfer-encoding: ${coding}\r\n\r\n2\r\nok\r\n0\r\n\r\n`)
      assert.deepEqual(await hear(connections), { failed: 'HPE_INVALID_TRANSFER_ENCODING' })
    }
    connections.close()
  })
  it('loses patience with informational heads', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    server.script('HTTP/1.1 102 Processing\r\n\r\n'.repeat(1_000))
    assert.deepEqual(await hear(connections), { failed: 'HPE_HEADER_OVERFLOW' })
    connections.close()
  })
  it('says the length of a body that is none', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    await hear(connections, { headers: ['host', 'h'], body: undefined })
    assert.match(
      server.requests[0]?.toString() ?? '',
      /^POST [^\n]+\r\nhost: h\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n$/,
    )
    connections.close()
  })
  it('sends no framing but its own', async () => {
    const connections = connectTo(undici, 1)
    for (const headers of [
      ['host', 'h', 'content-length', '3'],
      ['host', 'h', 'Transfer-Encoding', 'chunked'],
    ])
      assert.throws(() => send(connections, { headers }), TypeError)
  })
  it('does not use a connection again that the request itself closes', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    await hear(connections, { headers: ['host', 'h', 'Connection', 'close', 'content-length', '2'] })
    assert.doesNotMatch(server.requests[0]?.toString() ?? '', /keep-alive/)
    await hear(connections)
    assert.equal(server.sockets.length, 2)
    connections.close()
  })
  it('keeps 256 idle connections, and of them uses the one used last', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    await Promise.all(Array.from({ length: 260 }, () => hear(connections)))
    while (server.sockets.filter(({ destroyed }) => destroyed).length < 4) await new Promise(setImmediate)
    assert.equal(server.sockets.filter(({ destroyed }) => !destroyed).length, 256)
    const used = new Set<Socket>()
    server.otherwise = (socket) => {
      used.add(socket)
      socket.write(`${OK}content-length: 2\r\n\r\nok`)
    }
    for (let turn = 0; turn < 5; turn++) await hear(connections)
    assert.equal(used.size, 1)
    connections.close()
  })
  it('resumes a TLS session where the server gives one, and asks for HTTP/1.1', async () => {
    const made: unknown[] = []
    const server = createServer(
      { cert: certificate, key: privateKey, ALPNProtocols: ['h2', 'http/1.1'] },
      (_request, response) => {
        response.writeHead(200, { connection: 'close', 'content-length': 2 }).end('ok')
      },
    ).on('secureConnection', (socket: TLSSocket) => void made.push([socket.isSessionReused(), socket.alpnProtocol]))
    server.listen(0, 'localhost')
    await once(server, 'listening')
    const trusted = getCACertificates('default')
    setDefaultCACertificates([...trusted, certificate])
    try {
      const { port } = server.address() as AddressInfo
      const connections = connectTo(undici, port, { secure: true, hostname: 'localhost' })
      assert.equal((await hear(connections)).body, 'ok')
      assert.equal((await hear(connections)).body, 'ok')
      assert.deepEqual(made, [
        [false, 'http/1.1'],
        [true, 'http/1.1'],
      ])
      connections.close()
    } finally {
      setDefaultCACertificates(trusted)
      server.close()
    }
  })
  it('refuses a certificate of another name', async () => {
    const server = createServer({ cert: certificate, key: privateKey }, assert.fail)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const trusted = getCACertificates('default')
    setDefaultCACertificates([...trusted, certificate])
    try {
      const { port } = server.address() as AddressInfo
      const connections = connectTo(undici, port, { secure: true })
      assert.deepEqual(await hear(connections), { failed: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    } finally {
      setDefaultCACertificates(trusted)
      server.close()
    }
  })
})
