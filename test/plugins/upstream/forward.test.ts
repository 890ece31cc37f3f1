import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { headerOf } from 'guard-gateway/core'
import { fakeProvider } from '../../kit/provider.ts'
import { refusingPort } from '../../kit/refusing-port.ts'
import { chatReply, replyFor } from '../../kit/replies.ts'
import { ask, chatBody, jsonOf, KEY, messagesBody, start, styles } from '../http/kit.ts'
import { anUpstream } from './kit.ts'

describe('an upstream that does not answer', () => {
  it('for lack of a listener is 502 in each dialect, with the decision, recorded, and no address in the text', async () => {
    await using refusing = await refusingPort()
    const { port } = refusing
    await using running = await start({ upstreams: () => [anUpstream('local', `http://127.0.0.1:${port}`)] })
    for (const [path, body] of styles) {
      const got = await ask(running.port, { path, body })
      assert.deepEqual(
        [got.status, jsonOf(got).error.code, jsonOf(got).error.type],
        [502, 'UPSTREAM_UNREACHABLE', 'api_error'],
      )
      assert.match(String(jsonOf(got).error.message), /"local".*ECONNREFUSED/)
      assert.doesNotMatch(got.body.toString(), new RegExp(`127\\.0\\.0\\.1|${port}`))
      assert.equal(got.headers['x-guard-decision'], 'allow')
      const settled = running.settled.at(-1)
      assert.deepEqual([settled?.outcome, settled?.status], ['unreachable', 502])
      const refused = { upstream: 'local', address: '127.0.0.1', status: null, error: 'ECONNREFUSED' }
      assert.deepEqual(settled?.attempts, [refused])
    }
    assert.deepEqual(running.faults, [])
  })
  it('for lack of such a host is 502', async () => {
    await using running = await start({ upstreams: () => [anUpstream('far', 'http://host.invalid')] })
    assert.equal((await ask(running.port, { body: chatBody })).status, 502)
  })
  it('but resets the connection is 502, and asked once only', async () => {
    await using running = await start()
    running.provider.script({ reset: true }, { reset: true })
    assert.equal((await ask(running.port, { body: chatBody })).status, 502)
    assert.equal(running.provider.requests.length, 1)
  })
  it('in headers_ms is 504', async () => {
    await using running = await start({ upstream: { timeouts: { headers_ms: 50 } } })
    running.provider.script({ silent: true })
    const got = await ask(running.port, { path: '/v1/messages', body: messagesBody })
    assert.deepEqual(
      [got.status, jsonOf(got).error.code, jsonOf(got).error.type],
      [504, 'UPSTREAM_TIMEOUT', 'timeout_error'],
    )
    assert.equal(jsonOf(got).request_id, got.headers['x-guard-request-id'])
    assert.equal(running.settled[0]?.outcome, 'unreachable')
  })
  for (const [name, raw] of [
    ['nonsense', 'nonsense\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n'],
    ['an endless head', `HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(200_000)}`],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n'],
  ] as const) {
    it(`in HTTP but with ${name} is 502, and the next request is unaffected`, async () => {
      await using running = await start()
      running.provider.script({ raw })
      assert.equal((await ask(running.port, { body: chatBody })).status, 502)
      assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    })
  }
  it('in HTTP says so, with the fault', async () => {
    await using running = await start()
    running.provider.script({ raw: 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab' })
    const { error } = jsonOf(await ask(running.port, { body: chatBody }))
    assert.match(String(error.message), /breaks the rules of HTTP \(HPE_UNEXPECTED_CONTENT_LENGTH\)/)
    assert.equal(running.settled[0]?.attempts[0]?.error, 'HPE_UNEXPECTED_CONTENT_LENGTH')
  })
  it('as long as it says breaks the client’s reply', async () => {
    await using running = await start()
    running.provider.script({
      raw: 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"short":1}',
    })
    const got = await ask(running.port, { body: chatBody })
    assert.deepEqual([got.complete, got.body.toString()], [false, '{"short":1}'])
    assert.equal(running.settled[0]?.outcome, 'truncated')
  })
  it('in proper chunks breaks the client’s reply', async () => {
    await using running = await start()
    running.provider.script({
      raw: 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n',
    })
    const got = await ask(running.port, { body: chatBody })
    assert.equal(got.complete, false)
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
  })
})

describe('an answer', () => {
  for (const status of [400, 401, 404, 429, 500, 529, 302]) {
    it(`of ${status} passes with status, headers and bytes; nothing is tried again or followed`, async () => {
      await using running = await start()
      running.provider.script({
        status,
        body: '{"id" : "theirs"}',
        headers: { 'retry-after': '7', location: 'http://127.0.0.1:1/', 'set-cookie': 'a=b' },
      })
      const got = await ask(running.port, { body: chatBody })
      assert.deepEqual(
        [got.status, got.body.toString(), got.headers['retry-after']],
        [status, '{"id" : "theirs"}', '7'],
      )
      assert.equal(got.headers['set-cookie'], undefined)
      assert.equal(running.provider.requests.length, 1)
      assert.equal(running.settled[0]?.outcome, status >= 400 ? 'upstream_error' : 'ok')
      assert.equal(running.settled[0]?.upstream_request_id, 'req_up')
    })
  }
  it('cannot forge our headers', async () => {
    await using running = await start()
    running.provider.script({ headers: { 'x-guard-decision': 'block', 'x-guard-request-id': 'guardreq_forged' } })
    const got = await ask(running.port, { body: chatBody })
    assert.equal(got.headers['x-guard-decision'], 'allow')
    assert.equal(got.headers['x-guard-request-id'], running.settled[0]?.call.id)
  })
})

describe('a stream that was asked for', () => {
  const heads = ['content-type: Text/Event-Stream\r\n', '', 'content-type: application/octet-stream\r\n']
  it('is read as one whatever its type is, unless that is JSON', async () => {
    await using running = await start()
    for (const [path, body] of styles) {
      for (const head of heads) {
        const { body: events } = replyFor(path, true)
        running.provider.script({ raw: `HTTP/1.1 200 OK\r\n${head}\r\n${events}` })
        const got = await ask(running.port, { path, body: { ...body, stream: true } })
        assert.equal(got.body.toString(), events)
        const { outcome, reading } = running.settled.at(-1) ?? {}
        assert.deepEqual([outcome, reading?.complete], ['ok', true], `${path} ${head}`)
      }
      const whole = replyFor(path, false).body
      running.provider.script({ raw: `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${whole}` })
      await ask(running.port, { path, body: { ...body, stream: true } })
      assert.equal(running.settled.at(-1)?.reading.complete, true)
    }
  })
  it('is not taken for cut short where its encoding cannot be read, and is read whatever the spelling of its encoding', async () => {
    await using running = await start()
    const type = { 'content-type': 'text/event-stream' }
    running.provider.script({ body: 'odd', headers: { ...type, 'content-encoding': 'odd' } })
    await ask(running.port, { body: { ...chatBody, stream: true } })
    running.provider.script({
      body: gzipSync(chatReply(true).body),
      headers: { ...type, 'content-encoding': 'GZIP' },
    })
    await ask(running.port, { body: { ...chatBody, stream: true } })
    assert.deepEqual(
      running.settled.map(({ outcome, reading }) => [outcome, reading.complete]),
      [
        ['ok', false],
        ['ok', true],
      ],
    )
  })
})

describe('connections to an upstream', () => {
  it('are kept and used again', async () => {
    await using running = await start()
    for (let turn = 0; turn < 5; turn++) await ask(running.port, { body: { ...chatBody, stream: turn % 2 === 0 } })
    assert.equal(running.provider.connections, 1)
  })
})

describe('base_url', () => {
  for (const [suffix, paths, expected] of [
    ['', {}, '/v1/chat/completions'],
    ['/', {}, '/v1/chat/completions'],
    ['/v1', {}, '/v1/chat/completions'],
    ['/v1/', {}, '/v1/chat/completions'],
    ['/proxy/v1', {}, '/proxy/v1/chat/completions'],
    ['/odd', { chat_completions: '/openai/chat' }, '/odd/openai/chat'],
    ['/odd', { chat_completions: '/chat?api-version=1' }, '/odd/chat?api-version=1'],
  ] as const) {
    it(`"${suffix}" with paths ${JSON.stringify(paths)} leads to ${expected}`, async () => {
      await using running = await start({ upstreams: (url) => [anUpstream('main', url + suffix, { paths })] })
      await ask(running.port, { path: '/v1/chat/completions?a=b', body: chatBody })
      assert.equal(running.provider.last.path, `${expected}${expected.includes('?') ? '&' : '?'}a=b`)
      assert.equal(headerOf(running.provider.last.headers, 'host'), new URL(running.provider.url).host)
    })
  }
})

describe('a login of the client’s own', () => {
  const login = { authorization: 'Bearer user-login-0123456789', 'x-guard-key': KEY }
  it('goes to an upstream that passes it through, our key does not', async () => {
    await using running = await start({ upstream: { auth: 'passthrough' } })
    await ask(running.port, { key: null, headers: login, body: messagesBody, path: '/v1/messages' })
    assert.equal(headerOf(running.provider.last.headers, 'authorization'), login.authorization)
    assert.ok(!running.provider.last.headers.includes(KEY))
    assert.ok(!JSON.stringify(running.settled[0]?.call).includes('user-login'))
    await ask(running.port, { key: null, headers: login, body: messagesBody, path: '/v1/messages/count_tokens' })
    assert.equal(headerOf(running.provider.last.headers, 'authorization'), login.authorization)
  })
  it('goes to no other upstream, and to no fallback, which is not asked without one', async () => {
    await using second = await fakeProvider()
    await using third = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [
        anUpstream('first', url, { auth: 'passthrough', fallback: ['second', 'third'] }),
        anUpstream('second', second.url, { auth: 'passthrough' }),
        anUpstream('third', third.url, { api_key: 'of-the-third-0123456789' }),
      ],
    })
    running.provider.script({ status: 503 })
    const got = await ask(running.port, { key: null, headers: login, body: chatBody })
    assert.equal(got.status, 200)
    assert.equal(second.requests.length, 0)
    assert.equal(headerOf(third.last.headers, 'authorization'), 'Bearer of-the-third-0123456789')
    await using other = await start()
    await ask(other.port, { key: null, headers: login, body: chatBody })
    assert.ok(!other.provider.last.headers.join().includes('user-login'))
  })
})
