import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type RawAnswer, rawHttp } from '../../kit/raw-http.ts'
import { chatBody, KEY, messagesBody, type Started, start } from './kit.ts'
import { everyClass } from './routes.ts'

describe('spellings of a request target', () => {
  let running: Started
  before(async () => {
    running = await start({
      plugins: [everyClass],
      server: { allowed_hosts: ['guard.example'] },
      passthrough: ['/v1/embeddings', '/v1/files/*'],
    })
  })
  after(() => running[Symbol.asyncDispose]())

  const send = (method: string, target: string, lines: readonly string[] = [], body?: object): Promise<RawAnswer> => {
    const text = body === undefined ? '' : JSON.stringify(body)
    const head = [
      `${method} ${target} HTTP/1.1`,
      ...(lines.some((line) => line.startsWith('host:')) ? [] : [`host: 127.0.0.1:${running.port}`]),
      `authorization: Bearer ${KEY}`,
      'connection: close',
      ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${text.length}`]),
      ...lines,
    ]
    return rawHttp(running.port, `${head.join('\r\n')}\r\n\r\n${text}`)
  }

  for (const [target, canonical] of [
    ['//v1/messages', '/v1/messages'],
    ['/v1//messages', '/v1/messages'],
    ['///v1///messages//?beta=true', '/v1/messages?beta=true'],
    ['//messages', '/v1/messages'],
    ['/v1//v1/messages?a=//b', '/v1/messages?a=//b'],
  ] as const)
    it(`${target} is ${canonical}`, async () => {
      const got = await send('POST', target, [], messagesBody)
      assert.equal(got.status, 200, got.body)
      assert.equal(running.provider.last.path, canonical)
      assert.equal(running.settled.at(-1)?.call.path, '/v1/messages')
    })
  it('doubled slashes are overlooked on every path of programs: other dialects, counting, lists, listed paths', async () => {
    for (const target of [
      '/v1//chat/completions',
      '//v1//responses',
      '//v1/messages/count_tokens',
      '//v1//embeddings',
    ]) {
      const body = target.includes('chat')
        ? chatBody
        : target.includes('responses')
          ? { model: 'm', input: 'x' }
          : messagesBody
      const got = await send('POST', target, [], body)
      assert.equal(got.status, 200, target)
      assert.equal(running.provider.last.path, target.replace(/\/+/g, '/'))
    }
    assert.equal((await send('GET', '//v1//models')).status, 200)
    assert.equal(running.provider.last.path, '/v1/models')
  })
  it('doubled slashes are overlooked on the paths of further dialects, and HEAD is served there', async () => {
    const chat = { model: 'm-1', messages: [{ role: 'user', content: 'Hi' }], stream: false }
    for (const [target, canonical, body] of [
      ['//api/chat', '/api/chat', chat],
      ['//v1beta//models/m-1:generateContent', '/v1beta/models/m-1:generateContent', { contents: [] }],
    ] as const) {
      const got = await send('POST', target, [], body)
      assert.equal(got.status, 200, got.body)
      assert.equal(running.provider.last.path, canonical)
      assert.equal(running.settled.at(-1)?.call.path, canonical)
    }
    for (const path of ['/api/tags', '/v1beta/models', '/v1beta/models/m-1']) {
      const got = await send('HEAD', path)
      assert.deepEqual([got.status, got.body], [200, ''], path)
      assert.deepEqual([running.provider.last.method, running.provider.last.path], ['GET', path])
    }
    assert.equal((await send('GET', '//api//health')).status, 404)
  })
  it('a path that is listed as it is spelled goes up as it is spelled', async () => {
    await send('GET', '/v1/files/a//b')
    assert.equal(running.provider.last.path, '/v1/files/a//b')
  })
  it('no spelling leads around a key, a rule or the check of dots', async () => {
    const before = running.provider.requests.length
    for (const [target, status] of [
      ['//evil.example/v1/messages', 404],
      ['//127.0.0.1/v1/messages', 404],
      ['/v1//../v1/messages', 400],
      ['//v1/..//v1/messages', 400],
      ['/v1/%2f/messages', 400],
      ['%2f/v1/messages', 400],
      ['/%2fv1/messages', 404],
      ['/%2f%2fv1/messages', 404],
      ['/\\v1/messages', 404],
      ['/v1//Messages', 404],
      ['/v1//files/../messages', 400],
    ] as const)
      assert.equal((await send('POST', target, [], messagesBody)).status, status, target)
    const host = `host: 127.0.0.1:${running.port}`
    const keyless = await rawHttp(
      running.port,
      `POST //v1/messages HTTP/1.1\r\n${host}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
    )
    assert.equal(keyless.status, 401)
    assert.equal((await send('GET', '//api//things/1')).status, 404, 'pages and records have one spelling')
    assert.equal(running.provider.requests.length, before)
  })

  it('an absolute form names a host of ours and is served as its path, whatever the header says', async () => {
    for (const [authority, lines] of [
      [`127.0.0.1:${running.port}`, []],
      ['LOCALHOST', []],
      ['guard.example:443', []],
      [`127.0.0.1:${running.port}`, ['host: evil.example']],
    ] as const) {
      const got = await send('POST', `http://${authority}//v1/messages?beta=true`, lines, messagesBody)
      assert.equal(got.status, 200, `${authority} ${got.body}`)
      assert.equal(running.provider.last.path, '/v1/messages?beta=true')
    }
    assert.equal((await send('GET', `HTTPS://guard.example/v1/models`)).status, 200)
    assert.equal((await send('HEAD', `http://127.0.0.1:${running.port}`)).status, 200, 'an empty path is the root')
  })
  it('an absolute form of another host, with a login or of another scheme is refused', async () => {
    const before = running.provider.requests.length
    for (const target of [
      'http://evil.example/v1/messages',
      'http://evil.example\\@127.0.0.1/v1/messages',
      'http://user:password@127.0.0.1/v1/messages',
      'http:///v1/messages',
      'http:/v1/messages',
      'ftp://127.0.0.1/v1/messages',
      'ws://127.0.0.1/v1/messages',
      'http://127.0.0.1:99999999/v1/messages',
      'http://127.0.0.1.evil.example/v1/messages',
      'http://127.0.0.1#/v1/messages',
      'http://127.0.0.1/v1/%2e%2e/messages',
    ])
      assert.equal((await send('POST', target, [], messagesBody)).status, 400, target)
    assert.equal(running.provider.requests.length, before)
    const missing = `POST http://127.0.0.1/v1/messages HTTP/1.1\r\nauthorization: Bearer ${KEY}\r\nconnection: close\r\n\r\n`
    assert.equal((await rawHttp(running.port, missing)).status, 400, 'HTTP/1.1 without a host')
  })

  it('hold for WebSocket handshakes too', async () => {
    const handshake = ['connection: upgrade', 'upgrade: websocket']
    for (const target of ['//v1//responses', `http://127.0.0.1:${running.port}/v1/responses`])
      assert.equal((await send('GET', target, handshake)).status, 426, target)
    assert.equal((await send('GET', 'http://evil.example/v1/responses', handshake)).status, 400)
  })

  it('HEAD of a model list is as GET without the body', async () => {
    for (const path of ['/v1/models', '/models', '/v1/models/m-1']) {
      const get = await send('GET', path)
      const head = await send('HEAD', path)
      assert.deepEqual([head.status, head.body], [get.status, ''], path)
      assert.equal(head.headers['content-length'], get.headers['content-length'])
      assert.equal(running.provider.last.method, 'GET')
    }
    const keyless = `HEAD /v1/models HTTP/1.1\r\nhost: 127.0.0.1:${running.port}\r\nconnection: close\r\n\r\n`
    assert.equal((await rawHttp(running.port, keyless)).status, 401)
  })
  it('HEAD of a listed path goes up as HEAD, and its reply ends with its head', async () => {
    running.provider.script({ headers: { 'content-length': '1234' }, body: '' })
    const got = await send('HEAD', '/v1/files/f-1')
    assert.deepEqual([got.status, got.headers['content-length'], got.body], [200, '1234', ''])
    assert.equal(running.provider.last.method, 'HEAD')
  })
  it('OPTIONS * tells what the server takes, by a host of its own', async () => {
    const got = await send('OPTIONS', '*')
    assert.equal(got.status, 204)
    assert.match(got.headers.allow ?? '', /GET, HEAD, .*POST/)
    assert.equal((await send('OPTIONS', '*', ['host: evil.example'])).status, 403)
    assert.equal((await send('GET', '*')).status, 400)
  })
})
