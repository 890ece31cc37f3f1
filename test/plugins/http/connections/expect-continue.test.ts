import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { parsed, untilClosed } from '../../../kit/raw-http.ts'
import { type Service, startService } from '../../../kit/service.ts'

const GO_ON = 'HTTP/1.1 100 Continue\r\n\r\n'
const BODY = JSON.stringify({ model: 'm-1', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] })

describe('clients that ask before they send a body', () => {
  let service: Service
  before(async () => {
    service = await startService({})
  })
  after(() => service[Symbol.asyncDispose]())

  const head = (path: string, length: number, key: string, ...more: string[]) =>
    [
      `POST ${path} HTTP/1.1`,
      'host: localhost',
      `x-api-key: ${key}`,
      'content-type: application/json',
      `content-length: ${length}`,
      'expect: 100-continue',
      ...more,
      '\r\n',
    ].join('\r\n')

  const opened = (text: string) => {
    const socket = connect(Number(new URL(service.gateway.url).port), '127.0.0.1')
    socket.write(text)
    return socket
  }

  const refusals = [
    ['a wrong key', '/v1/messages', 401, (key: string) => head('/v1/messages', 20, `${key}x`)],
    ['a wrong key, for tokens', '/v1/messages/count_tokens', 401, () => head('/v1/messages/count_tokens', 20, 'no')],
    ['a wrong key, for traces', '/v1/traces', 401, () => head('/v1/traces', 20, 'no')],
    ['too large a body', '/v1/messages', 413, (key: string) => head('/v1/messages', 2 ** 30, key)],
    ['an unknown path', '/api/nowhere', 404, (key: string) => head('/api/nowhere', 20, key)],
    ['a web page', '/api/agents', 403, (key: string) => head('/api/agents', 20, key, 'origin: http://evil.example')],
  ] as const
  for (const [what, path, status, text] of refusals) {
    it(`with ${what} are refused at ${path} without being asked for it, and the connection ends`, async () => {
      const answer = parsed(await untilClosed(opened(text(service.gateway.key))))
      assert.deepEqual([answer.status, answer.headers.connection], [status, 'close'])
    })
  }

  for (const [path, body] of [
    ['/v1/messages', BODY],
    ['/v1/messages/count_tokens', BODY],
    ['/api/agents', '{"id":"careful"}'],
    ['/api/v1/traces', '{}'],
  ] as const) {
    it(`are asked for it once at ${path}`, async () => {
      const socket = opened(head(path, body.length, service.gateway.key, 'connection: close'))
      const [first] = (await once(socket, 'data')) as [Buffer]
      assert.equal(first.toString(), GO_ON)
      socket.write(body)
      const { status } = parsed(await untilClosed(socket))
      assert.ok(status === 200 || status === 201, `${status}`)
    })
  }
})
