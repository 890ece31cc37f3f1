import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { connectionErrors } from '../../../../plugins/http/connections/errors.ts'
import { parsed, untilClosed } from '../../../kit/raw-http.ts'

/** What a client reads when its connection fails with this code. */
const answerTo = async (code: string, before = ''): Promise<Buffer> => {
  const answer = connectionErrors(new Gateway().use(...foundation()))
  const server = createServer((socket: Socket) => {
    if (before !== '') socket.write(before)
    answer(Object.assign(new Error(code), { code }), socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bytes = await untilClosed(connect((server.address() as AddressInfo).port, '127.0.0.1'))
  server.close()
  return bytes
}

describe('a connection that brings no request', () => {
  for (const [code, status, name] of [
    ['ERR_HTTP_REQUEST_TIMEOUT', 408, 'REQUEST_TIMEOUT'],
    ['HPE_HEADER_OVERFLOW', 431, 'HEADERS_TOO_LARGE'],
    ['HPE_INVALID_METHOD', 400, 'MALFORMED_REQUEST'],
  ] as const) {
    it(`for ${code} is answered with ${status} and ended`, async () => {
      const got = parsed(await answerTo(code))
      assert.deepEqual([got.status, got.headers.connection, JSON.parse(got.body).error.code], [status, 'close', name])
      assert.match(got.headers['x-guard-request-id'] ?? '', /^guardreq_/)
      assert.equal(Number(got.headers['content-length']), Buffer.byteLength(got.body))
    })
  }
  it('is only ended when it was reset, or when an answer has started', async () => {
    assert.equal((await answerTo('ECONNRESET')).length, 0)
    assert.ok(!(await answerTo('HPE_INVALID_METHOD', 'HTTP/1.1 200 OK\r\n')).includes('MALFORMED_REQUEST'))
  })
})
