import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { listen, type Message } from '../../../../plugins/replay/commands/listen.ts'

/** Reads messages of a stream in these chunks and returns them with the requests. Each response ends after its chunks. */
const heard = async (answers: readonly (readonly string[])[], most: number) => {
  const asked: IncomingMessage[] = []
  const server = createServer(async (request, reply) => {
    const pieces = answers[asked.push(request) - 1]
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const piece of pieces ?? []) await new Promise((done) => reply.write(piece, done))
    reply.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ending = new AbortController()
  const messages: Message[] = []
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    for await (const message of listen(url, { signal: ending.signal, onLost() {}, onReconnected() {} }))
      if (messages.push(message) === most) ending.abort()
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return { messages, ids: asked.map(({ headers }) => headers['last-event-id']) }
}

describe('listen', () => {
  it('reads lines that end in LF, CRLF or CR, in any chunks', async () => {
    const whole = ['event: a\ndata: 1\n\n', 'event: b\r\ndata: 2\r\n\r\n', 'event: c\rdata: 3\r\r', 'data: 4\n\n'].join(
      '',
    )
    const expected = [
      { event: 'a', data: '1' },
      { event: 'b', data: '2' },
      { event: 'c', data: '3' },
      { event: 'message', data: '4' },
    ]
    assert.deepEqual((await heard([[whole]], 4)).messages, expected)
    assert.deepEqual((await heard([[...whole]], 4)).messages, expected)
  })
  it('joins the lines of a message, and skips comments and messages without data', async () => {
    const { messages } = await heard([[': hi\n\nid: 1\n\ndata: a\ndata\ndata:  b\n\n']], 1)
    assert.deepEqual(messages, [{ event: 'message', data: 'a\n\n b' }])
  })
  it('reconnects with the id of the last complete message', async () => {
    const { messages, ids } = await heard([['id: 7\rdata: a\r\r', 'id: 8\rdata: cut'], ['id: 8\ndata: b\n\n']], 2)
    assert.deepEqual(
      messages.map(({ data }) => data),
      ['a', 'b'],
    )
    assert.deepEqual(ids, [undefined, '7'])
  })
})
