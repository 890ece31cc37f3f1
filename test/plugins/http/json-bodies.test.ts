import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { parsed, rawHttp, untilClosed } from '../../kit/raw-http.ts'
import { answered, ask, begin, chatBody, jsonOf, KEY, read, type Started, start, styles } from './kit.ts'

const LIMIT = 20_000

describe('request bodies', () => {
  let running: Started
  before(async () => {
    running = await start({ server: { body_limit_bytes: LIMIT } })
  })
  after(() => running[Symbol.asyncDispose]())

  const refused = async (body: string | Uint8Array, headers: Record<string, string>, status: number, code: string) => {
    const before = running.provider.requests.length
    for (const [path] of styles) {
      const got = await ask(running.port, { path, body, headers })
      assert.deepEqual([got.status, jsonOf(got).error.code], [status, code], got.body.toString())
      assert.match(String(got.headers['x-guard-request-id']), /^guardreq_/)
    }
    assert.equal(running.provider.requests.length, before)
  }

  for (const [coding, compress] of [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['GZIP', gzipSync],
  ] as const) {
    it(`in ${coding} are read inflated and forwarded as they came`, async () => {
      const sent = compress(JSON.stringify({ ...chatBody, model: `m-${coding}` }))
      const got = await ask(running.port, { body: sent, headers: { 'content-encoding': coding } })
      assert.equal(got.status, 200, got.body.toString())
      assert.ok(running.provider.last.body.equals(sent))
      assert.equal(running.settled.at(-1)?.call.envelope.model, `m-${coding}`)
      assert.ok(running.provider.last.headers.includes(coding))
    })
    it(`in ${coding} that inflate beyond the limit are 413`, () =>
      refused(compress(Buffer.alloc(LIMIT * 100, 'a')), { 'content-encoding': coding }, 413, 'BODY_TOO_LARGE'))
    it(`that only claim to be ${coding} are 400`, () =>
      refused(JSON.stringify(chatBody), { 'content-encoding': coding }, 400, 'INVALID_BODY'))
  }
  it('in no coding at all may say so', async () => {
    assert.equal((await ask(running.port, { body: chatBody, headers: { 'content-encoding': 'identity' } })).status, 200)
  })
  for (const coding of ['compress', 'gzip, br', 'gzip,gzip', 'snappy']) {
    it(`in ${coding} are 415`, () =>
      refused(JSON.stringify(chatBody), { 'content-encoding': coding }, 415, 'UNSUPPORTED_ENCODING'))
  }

  for (const type of [
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/vnd.api+json',
    'application/json;charset="utf-8"',
  ]) {
    it(`of type ${type} are taken`, async () => {
      assert.equal((await ask(running.port, { body: chatBody, headers: { 'content-type': type } })).status, 200)
    })
  }
  it('without a type are taken', async () => {
    const text = JSON.stringify(chatBody)
    const got = await rawHttp(
      running.port,
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`,
    )
    assert.equal(got.status, 200)
  })
  for (const type of [
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'application/xml',
    'json',
    'application/jsonx',
    'text/html, application/json',
  ]) {
    it(`of type ${type} are 415`, () =>
      refused(JSON.stringify(chatBody), { 'content-type': type }, 415, 'UNSUPPORTED_MEDIA_TYPE'))
  }

  for (const [name, body] of [
    ['nothing', ''],
    ['half an object', '{"model":"m"'],
    ['an array', '[]'],
    ['a text', '"hello"'],
    ['null', 'null'],
    ['an object and more', '{"model":"m"} {}'],
    ['a byte order mark', '\ufeff{"model":"m"}'],
    ['a doubled model', '{"model":"m","messages":[],"model":"n"}'],
    ['a doubled model, once in escapes', '{"model":"m","messages":[],"\\u006dodel":"n"}'],
    ['doubled tools', '{"model":"m","tools":[],"tools":[]}'],
    ["another dialect's conversation twice", '{"model":"m","messages":[],"input":"a","input":"b"}'],
    ['doubled instructions', '{"model":"m","instructions":"a","instructions":"b"}'],
    ['two answers that they follow', '{"model":"m","previous_response_id":"a","previous_response_id":"b"}'],
    ['a doubled stream', '{"model":"m","stream":true,"stream":false}'],
    ['a single-quoted text', "{'model':'m'}"],
    ['deep nesting', `{"model":"m","x":${'['.repeat(600)}${']'.repeat(600)}}`],
  ] as const) {
    it(`that hold ${name} are 400`, () => refused(body, {}, 400, 'INVALID_BODY'))
  }
  it('that are not UTF-8 are 400', () =>
    refused(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), {}, 400, 'INVALID_BODY'))

  it('larger than the limit are refused by their announced length, unread, and the connection ends', async () => {
    const text = `POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\ncontent-length: ${LIMIT + 1}\r\n\r\n`
    const got = await rawHttp(running.port, text)
    assert.deepEqual(
      [got.status, got.headers.connection, JSON.parse(got.body).error.code],
      [413, 'close', 'BODY_TOO_LARGE'],
    )
    assert.equal(JSON.parse(got.body).type, 'error')
  })
  it('in chunks are cut at the limit', async () => {
    const socket = connect(running.port, '127.0.0.1')
    const all = untilClosed(socket)
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    for (let turn = 0; turn < 3; turn++) socket.write(`2710\r\n${'a'.repeat(10_000)}\r\n`)
    const got = parsed(await all)
    assert.equal(got.status, 413)
    assert.match(got.body, /BODY_TOO_LARGE/)
  })
  it('in chunks below the limit are forwarded whole, with a length', async () => {
    const text = JSON.stringify(chatBody)
    const pieces = [...text].map((letter) => `1\r\n${letter}\r\n`).join('')
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n`
    const got = await rawHttp(running.port, `${head}${pieces}0\r\n\r\n`)
    assert.equal(got.status, 200)
    assert.equal(running.provider.last.body.toString(), text)
    assert.ok(running.provider.last.headers.includes(String(text.length)))
  })
  it('that never come whole are nobody’s call', async () => {
    const before = running.settled.length
    const socket = connect(running.port, '127.0.0.1')
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${KEY}\r\ncontent-length: 100\r\n\r\n{"model":`,
    )
    await new Promise((resolve) => socket.once('ready', resolve))
    socket.destroy()
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    assert.equal(running.settled.length, before + 1)
  })
})

describe('the mode header', () => {
  for (const allowed of [true, false]) {
    it(`is ${allowed ? 'honoured' : 'ignored'} when server.allow_mode_header is ${allowed}`, async () => {
      await using running = await start({ server: { allow_mode_header: allowed } })
      await ask(running.port, { body: chatBody, headers: { 'x-guard-mode': 'enforce' } })
      assert.equal(running.settled.at(-1)?.call.mode_override, allowed ? 'enforce' : null)
      const odd = await ask(running.port, { body: chatBody, headers: { 'x-guard-mode': 'off' } })
      assert.deepEqual([odd.status, jsonOf(odd).error.code], [400, 'INVALID_HEADER'])
    })
  }
})

describe('too much at once', () => {
  it('is 503 before the body is read, and ends by itself', async () => {
    await using running = await start({ server: { max_in_flight: 1 } })
    const { promise, resolve } = Promise.withResolvers<void>()
    running.provider.script({ until: promise })
    const metadata = running.provider.next()
    const first = begin(running.port, { body: chatBody })
    await metadata
    const second = await ask(running.port, { body: chatBody })
    assert.deepEqual(
      [second.status, jsonOf(second).error.code, second.headers['retry-after']],
      [503, 'OVERLOADED', '1'],
    )
    assert.equal((await ask(running.port, { method: 'GET', path: '/api/health', key: null })).status, 200)
    resolve()
    assert.equal((await read(await answered(first))).status, 200)
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
  })
  it('also counts the bytes of bodies', async () => {
    await using running = await start({ server: { buffer_bytes: 100 } })
    const { promise, resolve } = Promise.withResolvers<void>()
    running.provider.script({ until: promise })
    const metadata = running.provider.next()
    const first = begin(running.port, { body: chatBody })
    await metadata
    assert.equal((await ask(running.port, { body: chatBody })).status, 503)
    resolve()
    await read(await answered(first))
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
  })
  for (const path of ['/v1/chat/completions', '/v1/messages/count_tokens'])
    it(`counts those that no length announces as they come: ${path}`, async () => {
      await using running = await start({ server: { buffer_bytes: 3_000 } })
      const chunk = `3e8\r\n${' '.repeat(1_000)}\r\n`
      const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-guard-key: ${KEY}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
      const held = async (bytes: number) => {
        const url = `http://127.0.0.1:${running.port}/api/health`
        const health = async () => (await (await fetch(url)).json()) as { http: { buffered_bytes: number } }
        while ((await health()).http.buffered_bytes !== bytes);
      }
      const first = connect(running.port, '127.0.0.1')
      first.write(head + chunk + chunk)
      await held(2_000)
      const second = connect(running.port, '127.0.0.1')
      second.write(head + chunk.repeat(6))
      const refused = parsed(await untilClosed(second))
      assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1'])
      assert.match(refused.body, /OVERLOADED/)
      await held(2_000)
      first.write(chunk + chunk)
      await held(4_000)
      first.destroy()
      await held(0)
    })
})
