import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { type RawAnswerer, type RawServer, rawServer } from '../../kit/raw-server.ts'
import { refusingPort } from '../../kit/refusing-port.ts'
import { type Pushing, rested, startPush, until } from './kit.ts'

const KEY = 'key-of-the-receiver-0123456789'

/** A gateway that sends to a server that answers as it likes. */
const startHostile = async (test: TestContext, ...answers: readonly (RawAnswerer | string)[]) => {
  const server = await rawServer()
  test.after(() => server[Symbol.asyncDispose]())
  server.script(...answers)
  const pushing = await startPush(test, {
    receiver: { url: `http://127.0.0.1:${server.port}/v1/traces`, headers: { authorization: KEY }, timeout_ms: 500 },
  })
  pushing.bench.gateway.secrets.add(KEY)
  await pushing.ingest({ spans: [{ name: 'a' }] })
  await pushing.tick(2_000)
  await until(() => server.requests.length === 1)
  return { server, pushing }
}

const settled = ({ health }: Pushing, server: RawServer): boolean =>
  health.sending === 0 && server.sockets.every((socket) => socket.destroyed)

const flood: RawAnswerer = (socket) => {
  const chunk = Buffer.alloc(65_536, 'x')
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

describe('a hostile receiver', () => {
  it('that never answers times out and gets a retry', async (test) => {
    const { server, pushing } = await startHostile(test, () => {})
    await pushing.tick(500)
    await until(() => pushing.health.last_error !== null)
    assert.match(pushing.health.last_error?.message ?? '', /The request failed: no answer within 500 ms\.$/)
    await until(() => server.sockets[0]?.destroyed === true)
    await pushing.pass(1_000)
    assert.deepEqual(pushing.counts, [1, 0, 0])
  })

  it('that closes or resets the connection gets a retry', async (test) => {
    const endings: RawAnswerer[] = [(socket) => socket.end(), (socket) => socket.resetAndDestroy()]
    const { pushing } = await startHostile(test, ...endings)
    await until(() => pushing.health.last_error !== null)
    const { last_error } = pushing.health
    await pushing.tick(1_000)
    await until(() => pushing.health.last_error !== last_error)
    await pushing.pass(2_000)
    assert.deepEqual(pushing.counts, [1, 0, 0])
  })

  it('that is not running gets a retry', async (test) => {
    await using port = await refusingPort()
    const pushing = await startPush(test, { receiver: { url: `http://127.0.0.1:${port.port}/v1/traces` } })
    await pushing.ingest({ spans: [{ name: 'a' }] })
    await pushing.tick(2_000)
    await until(() => pushing.health.last_error !== null)
    assert.match(pushing.health.last_error?.message ?? '', /ECONNREFUSED/)
    assert.equal(pushing.health.sending, 1)
  })

  it('that answers endlessly is read up to 64 KiB', async (test) => {
    const { server, pushing } = await startHostile(test, (socket, request) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n')
      flood(socket, request)
    })
    await until(() => settled(pushing, server))
    assert.deepEqual(pushing.counts, [1, 0, 0])
  })

  it('that sends headers endlessly is closed', async (test) => {
    const { server, pushing } = await startHostile(test, (socket, request) => {
      socket.write('HTTP/1.1 200 OK\r\nx-long: ')
      flood(socket, request)
    })
    await until(() => pushing.health.last_error !== null)
    await until(() => server.sockets[0]?.destroyed === true)
    assert.equal(pushing.health.sent, 0)
  })

  it('that stops within its body still gives its status', async (test) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { server, pushing } = await startHostile(test, (socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"partialSuccess":', () => resolve()),
    )
    await promise
    await rested()
    await pushing.tick(500)
    await until(() => settled(pushing, server))
    assert.deepEqual(pushing.counts, [1, 0, 0])
  })

  for (const body of [
    '',
    '<html>',
    '[]',
    'null',
    '{"partialSuccess":[]}',
    '{"partialSuccess":{"rejectedSpans":{}}}',
    '['.repeat(50_000),
  ])
    it(`that accepts spans may send any body: ${body.slice(0, 40)}`, async (test) => {
      const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      const { pushing } = await startHostile(test, answer)
      await until(() => pushing.health.sending === 0)
      assert.deepEqual(pushing.counts, [1, 0, 0])
    })

  it('that redirects is not followed', async (test) => {
    await using other = await rawServer()
    const { pushing } = await startHostile(
      test,
      `HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:${other.port}/v1/traces\r\ncontent-length: 0\r\n\r\n`,
    )
    await until(() => pushing.health.failed === 1)
    assert.match(pushing.health.last_error?.message ?? '', /It answered 307; redirects are not followed\.$/)
    assert.equal(other.sockets.length, 0)
  })

  it('that echoes reveals no key and sends no control characters', async (test) => {
    const echo = (socket: Socket, request: Buffer): void => {
      const authorization = /authorization: (.*)\r/.exec(request.toString('latin1'))?.[1]
      const body = JSON.stringify({ message: `\u001b[31m${authorization} ${'x'.repeat(9_000)}` })
      socket.write(`HTTP/1.1 401 Unauthorized\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    }
    const { server, pushing } = await startHostile(test, echo)
    assert.ok(server.requests[0]?.includes(KEY))
    await until(() => pushing.health.failed === 1)
    const { message = '' } = pushing.health.last_error ?? {}
    assert.match(message, /It answered 401: \[REDACTED:\w+\] x+/)
    assert.ok(message.length <= 300 && !message.includes('\u001b'))
    assert.ok(pushing.bench.faults.every((fault) => !String((fault as Error).stack).includes(KEY)))
  })
})
