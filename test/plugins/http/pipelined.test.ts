import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { untilClosed } from '../../kit/raw-http.ts'
import { chatReply } from '../../kit/replies.ts'
import { chatBody, KEY, start } from './kit.ts'

const request = (stream: boolean): string => {
  const body = JSON.stringify({ ...chatBody, stream })
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise(setImmediate)
}

describe('a request sent before the reply to the one before it', () => {
  for (const stream of [true, false]) {
    it(`has its connection ended where its ${stream ? 'stream' : 'whole reply'} breaks off meanwhile`, {
      timeout: 30_000,
    }, async () => {
      await using running = await start()
      const first = Promise.withResolvers<void>()
      const { body, type } = chatReply(stream)
      running.provider.script({ until: first.promise })
      running.provider.script({ body, headers: { 'content-type': type }, chunked: stream, cut_at: 20 })
      const socket = connect(running.port, '127.0.0.1')
      socket.write(request(stream))
      await until(() => running.provider.requests.length === 1)
      socket.write(request(stream))
      await until(() => running.settled.length === 1)
      first.resolve()
      const got = (await untilClosed(socket)).toString()
      assert.equal(got.match(/HTTP\/1.1 200/g)?.length, 2)
      assert.ok(got.includes(body.slice(0, 20)) && !got.endsWith('\r\n0\r\n\r\n'))
    })
  }
})
