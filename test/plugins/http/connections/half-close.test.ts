import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { parsed, untilClosed } from '../../../kit/raw-http.ts'
import { chatBody, KEY, type Started, start } from '../kit.ts'

const requestText = ({ port }: Started, body: object = chatBody, version = 'HTTP/1.1'): string => {
  const text = JSON.stringify(body)
  const head = [
    `POST /v1/chat/completions ${version}`,
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${KEY}`,
    'content-type: application/json',
    `content-length: ${text.length}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}

/** A client that keeps its ear open after it has said everything. */
const halfClosing = ({ port }: Started, text: string): Socket => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.end(text)
  return socket
}

const settledAfter = async (running: Started, count: number): Promise<void> => {
  while (running.settled.length < count) await new Promise(setImmediate)
}

describe('a client that closes its half of the connection after its request', () => {
  it('gets its reply, and the connection then ends', async () => {
    await using running = await start()
    for (const stream of [false, true]) {
      const got = parsed(await untilClosed(halfClosing(running, requestText(running, { ...chatBody, stream }))))
      assert.equal(got.status, 200)
      assert.match(got.body, stream ? /\[DONE\]/ : /"choices"/)
      assert.equal(running.settled.at(-1)?.outcome, 'ok')
    }
  })
  it('gets the replies to all requests that it has pipelined, in order', async () => {
    await using running = await start()
    const got = await untilClosed(halfClosing(running, requestText(running).repeat(3)))
    assert.equal(got.toString().split('HTTP/1.1 200 OK').length, 4)
  })
  it('gets its reply when that takes its time: informational responses come before it', async () => {
    await using running = await start()
    const answer = Promise.withResolvers<void>()
    running.provider.script({ until: answer.promise })
    const socket = halfClosing(running, requestText(running))
    const [first] = (await once(socket, 'data')) as [Buffer]
    assert.equal(first.toString(), 'HTTP/1.1 102 Processing\r\n\r\n')
    answer.resolve()
    const rest = parsed(await untilClosed(socket))
    assert.equal(rest.status, 200)
    assert.match(rest.body, /"choices"/)
  })
  it('and has left altogether is found out: the upstream is asked no longer', async () => {
    await using running = await start()
    running.provider.script({ silent: true })
    const arrived = running.provider.next()
    const socket = connect(running.port, '127.0.0.1')
    socket.write(requestText(running))
    const { closed } = await arrived
    socket.destroy()
    await closed
    await settledAfter(running, 1)
    assert.equal(running.settled[0]?.outcome, 'client_aborted')
  })
  it('and leaves while it waits is found out as well', async () => {
    await using running = await start()
    running.provider.script({ silent: true })
    const arrived = running.provider.next()
    const socket = halfClosing(running, requestText(running))
    const { closed } = await arrived
    await once(socket, 'data')
    socket.destroy()
    await closed
    await settledAfter(running, 1)
    assert.equal(running.settled[0]?.outcome, 'client_aborted')
  })
  it('while a stream runs has left: the upstream is asked no longer, though nothing comes from it', async () => {
    await using running = await start()
    running.provider.script({
      headers: { 'content-type': 'text/event-stream' },
      chunked: true,
      stall_at: 9,
      body: 'data: {}\n\n',
    })
    const arrived = running.provider.next()
    const socket = connect(running.port, '127.0.0.1')
    socket.write(requestText(running, { ...chatBody, stream: true }))
    await once(socket, 'data')
    const { closed } = await arrived
    socket.destroy()
    await closed
    await settledAfter(running, 1)
    assert.equal(running.settled[0]?.outcome, 'client_aborted')
  })
  it('by HTTP/1.0 has left, as proxies that speak it do: it cannot be tried', async () => {
    await using running = await start()
    running.provider.script({ silent: true })
    const arrived = running.provider.next()
    const socket = connect({ port: running.port, host: '127.0.0.1', allowHalfOpen: true })
    const heard = untilClosed(socket)
    socket.write(requestText(running, chatBody, 'HTTP/1.0'))
    const { closed } = await arrived
    socket.end()
    await closed
    assert.equal((await heard).length, 0)
  })
  it('in the middle of its body has sent no request', async () => {
    await using running = await start()
    const got = parsed(await untilClosed(halfClosing(running, requestText(running).slice(0, -5))))
    assert.equal(got.status, 400)
    assert.equal(running.provider.requests.length, 0)
  })
})
