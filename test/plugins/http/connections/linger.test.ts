import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { parsed } from '../../../kit/raw-http.ts'
import { KEY, type Started, start } from '../kit.ts'
import { everyClass } from '../routes.ts'

const LIMIT = 20_000
const REST = 3_000_000
const head = (path: string, framing: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`

describe('a client that is told that its body is too large while it sends it', () => {
  let running: Started
  before(async () => {
    running = await start({ server: { body_limit_bytes: LIMIT }, plugins: [everyClass] })
  })
  after(() => running[Symbol.asyncDispose]())

  /** Sends the rest when the first bytes of the answer are there; what has come at the end, and what went wrong. */
  const sentOn = async (begin: string, rest: Buffer) => {
    const socket: Socket = connect({ port: running.port, host: '127.0.0.1', allowHalfOpen: true })
    const errors: unknown[] = []
    const chunks: Buffer[] = []
    socket.on('error', (error) => errors.push(error)).on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.write(begin)
    await once(socket, 'data')
    socket.end(rest)
    await once(socket, 'close')
    return { errors, bytes: Buffer.concat(chunks) }
  }

  for (const [name, path, framing, begun, rest] of [
    ['a model request', '/v1/responses', `content-length: ${REST}`, '', Buffer.alloc(REST, 97)],
    [
      'a model request in chunks',
      '/v1/responses',
      'transfer-encoding: chunked',
      `7530\r\n${'a'.repeat(30_000)}\r\n`,
      Buffer.from(`${REST.toString(16)}\r\n${'a'.repeat(REST)}\r\n0\r\n\r\n`),
    ],
    ['a call of a tool', '/mcp/files', `content-length: ${REST}`, '', Buffer.alloc(REST, 97)],
    ['another request', '/api/things', `content-length: ${REST}`, '', Buffer.alloc(REST, 97)],
  ] as const)
    it(`can send it to its end and read the answer: ${name}`, async () => {
      const { errors, bytes } = await sentOn(head(path, framing) + begun, rest)
      assert.deepEqual(errors, [])
      const got = parsed(bytes)
      assert.deepEqual([got.status, got.headers.connection], [413, 'close'], bytes.toString())
    })

  it('is not served what comes after that body', async () => {
    const list = `GET /v1/models HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\n\r\n`
    const rest = Buffer.from(`${'a'.repeat(REST)}${list}`)
    const { bytes } = await sentOn(head('/v1/responses', `content-length: ${REST}`), rest)
    assert.equal(bytes.toString().match(/HTTP\/1\.1 \d/g)?.length, 1)
    assert.equal(running.provider.requests.length, 0)
  })
})
