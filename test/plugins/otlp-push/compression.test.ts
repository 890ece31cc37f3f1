import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type RawServer, rawServer } from '../../kit/raw-server.ts'
import { startPush } from './kit.ts'

describe('a receiver that reads plain bodies only', () => {
  /** It answers 500 to compressed bodies, as a real one did. */
  const plainOnly = async (): Promise<RawServer> => {
    const server = await rawServer()
    server.otherwise = (socket, request) => {
      const status = /\r\ncontent-encoding: gzip/i.test(String(request)) ? '500 Internal Server Error' : '200 OK'
      socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\n{}`)
    }
    return server
  }

  for (const [compression, counts] of [
    ['gzip', [0, 0, 1]],
    ['none', [1, 0, 0]],
  ] as const)
    it(`gets ${counts[0]} of 1 spans with compression ${compression}`, async (test) => {
      const server = await plainOnly()
      test.after(() => server[Symbol.asyncDispose]())
      const pushing = await startPush(test, { receiver: { url: `http://127.0.0.1:${server.port}`, compression } })
      await pushing.ingest({ spans: [{ name: 'a' }] })
      await pushing.pass(2_000)
      assert.deepEqual(pushing.counts, counts)
      const [head = '', body = ''] = String(server.requests[0]).split('\r\n\r\n')
      assert.match(
        head,
        new RegExp(`\r\ncontent-length: ${compression === 'none' ? Buffer.byteLength(body) : '\\d+'}(\r\n|$)`, 'i'),
      )
      if (compression === 'none') assert.equal(JSON.parse(body).resourceSpans[0].scopeSpans[0].spans[0].name, 'a')
    })
})
