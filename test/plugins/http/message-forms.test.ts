import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type RawAnswer, rawHttp } from '../../kit/raw-http.ts'
import { chatBody, KEY, type Started, start } from './kit.ts'

const BODY = JSON.stringify(chatBody)

describe('forms of a message that HTTP allows and few clients use', () => {
  let running: Started
  before(async () => {
    running = await start({ passthrough: ['/v1/files/*'] })
  })
  after(() => running[Symbol.asyncDispose]())

  const send = (
    lines: readonly string[],
    rest: string,
    first = 'POST /v1/chat/completions HTTP/1.1',
  ): Promise<RawAnswer> => {
    const head = [first, `host: 127.0.0.1:${running.port}`, `authorization: Bearer ${KEY}`, 'connection: close']
    return rawHttp(running.port, `${[...head, 'content-type: application/json', ...lines].join('\r\n')}\r\n\r\n${rest}`)
  }
  const arrives = async (got: Promise<RawAnswer>): Promise<void> => {
    const { status, body } = await got
    assert.equal(status, 200, body)
    assert.equal(running.provider.last.body.toString(), BODY)
  }
  const size = BODY.length.toString(16)

  it('chunks with extensions, zeros before their size and capital digits', async () => {
    await arrives(send(['transfer-encoding: chunked'], `${size};name=value;other="a b"\r\n${BODY}\r\n0;last\r\n\r\n`))
    await arrives(send(['Transfer-Encoding: Chunked'], `000${size.toUpperCase()}\r\n${BODY}\r\n000\r\n\r\n`))
  })
  it('trailers, of which none goes up as a header', async () => {
    const trailers = `x-trailer: 1\r\nauthorization: Bearer other\r\nx-guard-mode: enforce\r\n`
    await arrives(
      send(['transfer-encoding: chunked', 'trailer: x-trailer'], `${size}\r\n${BODY}\r\n0\r\n${trailers}\r\n`),
    )
    assert.ok(!running.provider.last.headers.some((text) => /x-trailer|Bearer other/i.test(text)))
  })
  it('an empty line before the request line', async () => {
    const got = await rawHttp(running.port, `\r\nGET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    assert.equal(got.status, 200)
  })
  it('one length said twice alike, two that differ, and chunks with a length are told apart', async () => {
    const length = `content-length: ${BODY.length}`
    const twice = await send([length, length], BODY)
    assert.ok(twice.status === 200 || twice.status === 400, 'either is allowed (RFC 9112, 6.3)')
    assert.equal((await send([length, `content-length: ${BODY.length + 1}`], BODY)).status, 400)
    assert.equal((await send([length, 'transfer-encoding: chunked'], `${size}\r\n${BODY}\r\n0\r\n\r\n`)).status, 400)
  })
  it('chunks by HTTP/1.0 are 400, and nothing behind them is a request', async () => {
    const head = `host: 127.0.0.1:${running.port}\r\nauthorization: Bearer ${KEY}\r\nconnection: keep-alive`
    const before = running.provider.requests.length
    for (const path of ['/v1/chat/completions', '/v1/files/x', '/api/hello', '/livez', '/nothing']) {
      const first = `POST ${path} HTTP/1.0\r\n${head}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`
      const second = `GET /v1/models HTTP/1.1\r\n${head}\r\n\r\n`
      const { status, bytes } = await rawHttp(running.port, first + second)
      assert.equal(status, 400, path)
      assert.equal(bytes.toString().split('HTTP/1.1 ').length, 2, path)
    }
    assert.equal(running.provider.requests.length, before)
  })
  it('an expectation that nobody meets is 417', async () => {
    assert.equal((await send(['expect: 200-ok', `content-length: ${BODY.length}`], BODY)).status, 417)
  })
  it('a body with GET and HEAD is read and no next request', async () => {
    for (const method of ['GET', 'HEAD']) {
      const got = await send([`content-length: ${BODY.length}`], BODY, `${method} /v1/models HTTP/1.1`)
      assert.equal(got.status, 200)
      assert.equal(got.bytes.toString().split('HTTP/1.1 ').length, 2)
    }
  })
  it('a method of lower case is another method', async () => {
    const got = await send([`content-length: ${BODY.length}`], BODY, 'post /v1/chat/completions HTTP/1.1')
    assert.ok(got.status >= 400 && got.status < 500)
  })
  it('informational responses of an upstream end before the reply: the client gets the final one alone', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'
    running.provider.script({
      raw: `${hints}HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
    })
    const got = await send([`content-length: ${BODY.length}`], BODY)
    assert.deepEqual([got.status, got.body, got.headers.link], [200, '{}', undefined])
  })
  it('replies of an upstream without a body have none, whatever they announce', async () => {
    for (const [method, status] of [
      ['GET', 204],
      ['GET', 304],
      ['HEAD', 200],
    ] as const) {
      running.provider.script({ raw: `HTTP/1.1 ${status} X\r\ncontent-length: 5\r\nconnection: close\r\n\r\n` })
      const got = await send([], '', `${method} /v1/files/f HTTP/1.1`)
      assert.deepEqual([got.status, got.body], [status, ''], `${method} ${status}`)
    }
  })
})
