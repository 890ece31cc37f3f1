import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  brotliCompressSync,
  brotliDecompressSync,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'
import { Gateway, headerOf } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { type UpstreamOptions, upstream } from 'guard-gateway/plugins/upstream'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { foundation } from 'guard-gateway/presets/foundation'
import { fakeProvider } from '../../kit/provider.ts'
import { chatReply } from '../../kit/replies.ts'
import { ask, chatBody, jsonOf, messagesBody, start } from '../http/kit.ts'
import { anUpstream, healthIn } from './kit.ts'

describe('routing', () => {
  it('takes the first upstream that serves style and model', async () => {
    await using second = await fakeProvider()
    await using running = await start({
      upstreams: (url) => [
        anUpstream('claude', url, { styles: ['messages'], models: ['claude-*'] }),
        anUpstream('exact', second.url, { styles: ['messages', 'chat_completions'], models: ['m-1', '*-mini'] }),
        anUpstream('rest', url, { styles: ['chat_completions'] }),
      ],
    })
    for (const [path, model, name] of [
      ['/v1/messages', 'claude-x', 'claude'],
      ['/v1/messages', 'm-1', 'exact'],
      ['/v1/chat/completions', 'gpt-mini', 'exact'],
      ['/v1/chat/completions', 'claude-x', 'rest'],
    ] as const) {
      assert.equal((await ask(running.port, { path, body: { ...messagesBody, model } })).status, 200)
      assert.equal(running.settled.at(-1)?.upstream, name)
    }
    const none = await ask(running.port, { path: '/v1/messages', body: { ...messagesBody, model: 'other' } })
    assert.deepEqual([none.status, jsonOf(none).error.code], [404, 'NO_UPSTREAM'])
    assert.match(
      String(jsonOf(none).error.message),
      /style messages and model "other".*claude \(messages: claude-\*\); exact .*rest/,
    )
    const unnamed = await ask(running.port, { path: '/v1/messages', body: { messages: [] } })
    assert.match(String(jsonOf(unnamed).error.message), /serves style messages without a model; there is claude/)
    assert.deepEqual(
      running.settled.slice(4).map(({ outcome, upstream }) => [outcome, upstream]),
      [
        ['unreachable', null],
        ['unreachable', null],
      ],
    )
  })
  it('follows a change of the configuration without a restart; what stays keeps its connection', async () => {
    await using first = await fakeProvider()
    await using second = await fakeProvider()
    const config: { upstreams: readonly UpstreamOptions[] } = { upstreams: [anUpstream('first', first.url)] }
    await using running = await start({ live: config })
    running.gateway.hooks.request.tap({ name: 'test', stage: -200 }, (call) => {
      call.upstream = config.upstreams[0]?.name ?? null
    })
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    config.upstreams = [anUpstream('second', second.url), anUpstream('first', first.url)]
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    assert.deepEqual([first.requests.length, second.requests.length], [1, 1])
    config.upstreams = [anUpstream('first', first.url)]
    await ask(running.port, { body: chatBody })
    assert.deepEqual([first.requests.length, first.connections], [2, 1])
  })
  it('keeps what is known of an upstream that a change leaves as it is: cool-downs, circuits, keys at rest', async () => {
    await using first = await fakeProvider()
    await using second = await fakeProvider()
    const kept = [
      anUpstream('first', first.url, { fallback: ['second'], fallback_on: [429], circuit: { failures: 1 } }),
      anUpstream('second', second.url, { api_keys: ['key-one-abcdefgh', 'key-two-abcdefgh'] }),
    ]
    const config: { upstreams: readonly UpstreamOptions[] } = { upstreams: kept }
    await using running = await start({ live: config })
    first.script({ status: 429 })
    second.script({ status: 429 })
    assert.equal((await ask(running.port, { body: chatBody })).status, 200)
    const before = healthIn(running)
    assert.deepEqual([before[0]?.ready, before[1]?.keys?.resting], [false, 1])
    config.upstreams = [...structuredClone(kept), anUpstream('third', second.url)]
    assert.deepEqual(healthIn(running).slice(0, 2), before)
    config.upstreams = kept.map((entry) => ({ ...entry, models: ['m-*'] }))
    assert.deepEqual(
      healthIn(running).map(({ ready, keys }) => [ready, keys?.resting ?? 0]),
      [
        [true, 0],
        [true, 0],
      ],
    )
  })
  it('refuses to start where nothing speaks to upstreams, or nothing of that name', async () => {
    const upstreams = [anUpstream('a', 'http://127.0.0.1:1')]
    const without = new Gateway().use(...foundation(), memory(), upstream({ upstreams }))
    await assert.rejects(without.open(), { code: 'MISSING_PLUGIN', message: /upstream-clients\/undici/ })
    const named = new Gateway().use(
      ...foundation(),
      memory(),
      undici,
      upstream({ upstreams: [anUpstream('a', 'http://h', { client: 'x' })] }),
    )
    await assert.rejects(named.open(), { code: 'UNKNOWN', message: /"x"; there is undici/ })
  })
  it('refuses a fallback that is no upstream, at start', () => {
    const options = { upstreams: [anUpstream('a', 'http://127.0.0.1:1', { fallback: ['b'] })] }
    assert.throws(() => new Gateway().use(...foundation(), upstream(options)), { code: 'UNKNOWN' })
  })
})

describe('model_map', () => {
  it('changes the one text and no other byte', async () => {
    await using running = await start({ upstream: { model_map: { 'm-1': 'real "m"' } } })
    const sent =
      '{ "a":1.0, "messages": [ {"role":"user","content":"m-1"} ],\n  "model" :  "m-1" , "n": 12345678901234567890 }'
    await ask(running.port, { body: sent })
    assert.equal(running.provider.last.body.toString(), sent.replace('"model" :  "m-1"', '"model" :  "real \\"m\\""'))
    await ask(running.port, { body: { ...chatBody, model: 'm-2' } })
    assert.equal(JSON.parse(running.provider.last.body.toString()).model, 'm-2')
  })
  it('holds for what no rule judges, too: counted tokens and paths passed through', async () => {
    await using running = await start({
      upstream: { model_map: { 'm-1': 'org/real' } },
      passthrough: ['/v1/embeddings'],
    })
    const sent = '{ "model": "m-1", "messages": [], "input": "m-1" }'
    const mapped = sent.replace('"model": "m-1"', '"model": "org/real"')
    for (const path of ['/v1/messages/count_tokens', '/v1/embeddings']) {
      await ask(running.port, { path, body: sent })
      assert.equal(running.provider.last.body.toString(), mapped, path)
    }
    const gzipped = { path: '/v1/embeddings', body: gzipSync(sent), headers: { 'content-encoding': 'gzip' } }
    await ask(running.port, gzipped)
    assert.equal(gunzipSync(running.provider.last.body).toString(), mapped)
  })
  for (const [coding, compress, inflate] of [
    ['gzip', gzipSync, gunzipSync],
    ['deflate', deflateSync, inflateSync],
    ['br', brotliCompressSync, brotliDecompressSync],
    ['ZSTD', zstdCompressSync, zstdDecompressSync],
  ] as const) {
    it(`sends a body that came in ${coding} in ${coding} again, as it came where nothing changes`, async () => {
      await using running = await start({ upstream: { model_map: { 'm-1': 'real' } } })
      const send = async (model: string) => {
        const body = compress(JSON.stringify({ ...chatBody, model, pad: 'x'.repeat(200_000) }))
        await ask(running.port, { body, headers: { 'content-encoding': coding } })
        const { last } = running.provider
        assert.equal(headerOf(last.headers, 'content-encoding'), coding)
        assert.ok(last.body.length < 2_000, 'what inflates by much is not kept inflated')
        assert.equal(last.body.equals(body), model === 'm-2')
        return JSON.parse(inflate(last.body).toString())
      }
      assert.equal((await send('m-1')).model, 'real')
      assert.equal((await send('m-2')).model, 'm-2')
    })
  }
})

describe('inject_stream_usage', () => {
  const inject = { upstream: { inject_stream_usage: true } }
  it('asks for usage and keeps its chunk from the client, in whatever pieces it comes', async () => {
    await using running = await start(inject)
    const whole = chatReply(true, 'Hi there, you.', true)
    const shown = chatReply(true, 'Hi there, you.', false).body
    for (let size = 1; size < 60; size += 7) {
      running.provider.script({
        body: whole.body,
        headers: { 'content-type': whole.type },
        pieces: [size, 2 * size + 1],
      })
      const got = await ask(running.port, { body: { ...chatBody, stream: true } })
      assert.equal(got.body.toString(), shown)
      assert.deepEqual(JSON.parse(running.provider.last.body.toString()).stream_options, { include_usage: true })
      const settled = running.settled.at(-1)
      assert.deepEqual([settled?.usage.input_tokens, settled?.usage_source], [20, 'reported'])
    }
  })
  it('knows its chunk whatever ends the lines and whatever is beside the data', async () => {
    await using running = await start(inject)
    const framed = (asked: boolean, beside: string, end: string): string =>
      chatReply(true, 'Hi.', asked).body.replaceAll('data:', `${beside}\ndata:`).replaceAll('\n', end)
    for (const end of ['\n', '\r'])
      for (const beside of [': comment', 'event: message', 'id: 7']) {
        const headers = { 'content-type': 'text/event-stream' }
        running.provider.script({ body: framed(true, beside, end), headers, pieces: [7] })
        const got = await ask(running.port, { body: { ...chatBody, stream: true } })
        assert.equal(got.body.toString(), framed(false, beside, end))
        assert.equal(running.settled.at(-1)?.usage_source, 'reported')
      }
  })
  it('knows its chunk in a stream that says of itself nothing, and leaves one that is encoded as it is', async () => {
    await using running = await start(inject)
    const whole = chatReply(true, 'Hi.', true).body
    const got = async (head: string, body: Buffer) => {
      const length = `content-length: ${body.length}\r\n`
      running.provider.script({ raw: Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${head}${length}\r\n`), body]) })
      return (await ask(running.port, { body: { ...chatBody, stream: true } })).body
    }
    const shown = chatReply(true, 'Hi.', false).body
    assert.equal((await got('', Buffer.from(whole))).toString(), shown)
    assert.equal((await got('content-encoding: identity\r\n', Buffer.from(whole))).toString(), shown)
    const zipped = gzipSync(whole)
    assert.deepEqual(await got('content-encoding: gzip\r\n', zipped), zipped)
  })
  it('adds to options that are there, and leaves a wish of the client alone', async () => {
    await using running = await start(inject)
    for (const [given, sent] of [
      [{ other: 1 }, { include_usage: true, other: 1 }],
      [{}, { include_usage: true }],
      [null, { include_usage: true }],
      [{ include_usage: false }, { include_usage: false }],
    ]) {
      await ask(running.port, { body: { ...chatBody, stream: true, stream_options: given } })
      assert.deepEqual(JSON.parse(running.provider.last.body.toString()).stream_options, sent)
    }
    const whole = chatReply(true, 'Hi.', true)
    running.provider.script({ body: whole.body, headers: { 'content-type': whole.type } })
    const asked = await ask(running.port, {
      body: { ...chatBody, stream: true, stream_options: { include_usage: true } },
    })
    assert.equal(asked.body.toString(), whole.body)
  })
  it('touches neither other styles nor replies that are no streams', async () => {
    await using running = await start(inject)
    const sent = JSON.stringify(chatBody)
    await ask(running.port, { body: sent })
    assert.equal(running.provider.last.body.toString(), sent)
    const messages = JSON.stringify({ ...messagesBody, stream: true })
    await ask(running.port, { path: '/v1/messages', body: messages })
    assert.equal(running.provider.last.body.toString(), messages)
    running.provider.script({ status: 400, body: '{"error":{"message":"no"}}' })
    const got = await ask(running.port, { body: { ...chatBody, stream: true } })
    assert.equal(got.body.toString(), '{"error":{"message":"no"}}')
  })
})
