import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { chatReply, replyFor } from '../../kit/replies.ts'

import { answered, ask, begin, chatBody, KEY, read, type Started, start, styles } from './kit.ts'

const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const settledAfter = async (running: Started, count: number): Promise<void> => {
  while (running.settled.length < count) await new Promise(setImmediate)
}

/** Where a reply is cut. */
const places = (stream: boolean): readonly number[] => {
  const step = stream ? 23 : 11
  const { length } = chatReply(stream, 'Hi.').body
  return Array.from({ length: Math.ceil((length - 1) / step) }, (_, n) => n * step)
}

/** A reply that is cut after so many bytes arrives so far, broken, and is recorded as that. */
const isBrokenAt = async (running: Started, stream: boolean, at: number): Promise<void> => {
  const { body: whole, type } = chatReply(stream, 'Hi.')
  running.provider.script({ body: whole, headers: { 'content-type': type }, chunked: stream, cut_at: at })
  const got = await read(await answered(begin(running.port, { body: { ...chatBody, stream } })))
  assert.equal(got.complete, false, `cut at ${at}`)
  assert.equal(got.body.toString(), whole.slice(0, at))
  await settledAfter(running, running.provider.requests.length)
  assert.equal(running.settled.at(-1)?.outcome, 'truncated')
}

describe('reply bytes', () => {
  it('are those of the provider, however they are cut into pieces', async () => {
    await using running = await start()
    let seed = 7
    const next = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return 1 + (seed % below)
    }
    for (const [path, body] of styles) {
      for (let turn = 0; turn < 12; turn++) {
        const text = `Grüße ${'w€rd '.repeat(next(40))}`
        const reply = path.includes('chat') ? chatReply(turn % 2 === 0, text) : replyFor(path, turn % 2 === 0)
        running.provider.script({
          body: reply.body,
          headers: { 'content-type': reply.type },
          pieces: [next(9), next(200), next(33)],
        })
        const got = await ask(running.port, { path, body: { ...body, stream: turn % 2 === 0 } })
        assert.equal(sha(got.body), sha(Buffer.from(reply.body)))
        assert.ok(got.complete)
      }
    }
    assert.deepEqual(new Set(running.settled.map(({ outcome }) => outcome)), new Set(['ok']))
  })
  it('arrive as they come: nothing waits for the end of the reply', async () => {
    await using running = await start()
    const whole = chatReply(true).body
    running.provider.script({ stall_at: 200 })
    const request = begin(running.port, { body: { ...chatBody, stream: true } })
    const response = await answered(request)
    let got = 0
    for await (const chunk of response) {
      got += (chunk as Buffer).length
      if (got === 200) break
    }
    assert.ok(got === 200 && got < whole.length)
  })
  it('stand after a head whose values keep their bytes, however it goes out', async () => {
    await using running = await start()
    const head = 'HTTP/1.1 200 OK\r\nx-odd: caf\xe9\r\n'
    for (const rest of [
      'content-length: 2\r\n\r\n{}',
      'content-length: 2\r\n\r\n{',
      'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      '\r\n{}',
    ]) {
      running.provider.script({ raw: Buffer.from(head + rest, 'latin1') })
      assert.equal((await ask(running.port, { body: chatBody })).headers['x-odd'], 'caf\xe9', rest)
    }
  })
  it('in an encoding nobody asked for pass untouched', async () => {
    await using running = await start()
    const odd = Buffer.from([0, 1, 2, 255])
    running.provider.script({ body: odd, headers: { 'content-encoding': 'odd' } })
    const got = await ask(running.port, { body: chatBody })
    assert.ok(got.body.equals(odd))
    assert.equal(got.headers['content-encoding'], 'odd')
    assert.ok(running.provider.last.headers.includes('identity'))
  })
})

describe('the end of a reply', () => {
  for (const stream of [false, true]) {
    it(`comes after its record, ${stream ? 'of a stream' : 'of a reply with a length'}`, async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const settling = Promise.withResolvers<void>()
      const slow = {
        name: 'slow',
        apply: (gateway: Started['gateway']) =>
          gateway.hooks.settle.tapPromise('slow', () => {
            settling.resolve()
            return promise
          }),
      }
      await using running = await start({ plugins: [slow] })
      let ended = false
      const all = ask(running.port, { body: { ...chatBody, stream } }).finally(() => {
        ended = true
      })
      await settling.promise
      await new Promise(setImmediate)
      assert.equal(ended, false)
      resolve()
      const got = await all
      assert.ok(got.complete)
      assert.equal(got.body.toString(), chatReply(stream).body)
    })
  }
})

describe('an upstream that breaks off', () => {
  for (const stream of [false, true]) {
    it(`breaks the client's reply too, at every byte of a ${stream ? 'stream' : 'whole reply'}`, async () => {
      await using running = await start()
      for (const at of places(stream)) await isBrokenAt(running, stream, at)
    })
  }
  it('looks broken to a client of HTTP/1.0, whose reply ends with the connection', async () => {
    await using running = await start()
    running.provider.script({ cut_at: 100 })
    const socket = connect(running.port, '127.0.0.1')
    const body = JSON.stringify({ ...chatBody, stream: true })
    socket.on('data', () => {})
    socket.write(
      `POST /v1/chat/completions HTTP/1.0\r\nhost: localhost\r\nx-api-key: ${KEY}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    assert.equal(error.code, 'ECONNRESET')
  })
  it('cleanly but without the last event is recorded as truncated; its bytes pass as they came', async () => {
    await using running = await start()
    const half = chatReply(true).body.slice(0, 300)
    running.provider.script({ body: half, headers: { 'content-type': 'text/event-stream' } })
    const got = await ask(running.port, { body: { ...chatBody, stream: true } })
    assert.deepEqual([got.complete, got.body.toString()], [true, half])
    assert.equal(running.settled.at(-1)?.outcome, 'truncated')
  })
  it('by falling silent is cut after idle_ms', async () => {
    await using running = await start({ upstream: { timeouts: { idle_ms: 60 } } })
    running.provider.script({ stall_at: 200 })
    const got = await ask(running.port, { body: { ...chatBody, stream: true } })
    assert.deepEqual([got.complete, got.body.length], [false, 200])
    assert.equal(running.settled.at(-1)?.outcome, 'truncated')
  })
  it('by taking too long is cut after total_ms', async () => {
    await using running = await start({ upstream: { timeouts: { total_ms: 500 } } })
    running.provider.script({ stall_at: 200 })
    assert.equal((await ask(running.port, { body: { ...chatBody, stream: true } })).complete, false)
    assert.equal((await ask(running.port, { body: chatBody })).complete, true)
  })
})

describe('a client that leaves', () => {
  for (const [path, body] of styles) {
    it(`during a stream of ${path} ends the upstream's request too`, async () => {
      await using running = await start()
      running.provider.script({ stall_at: 150 })
      const metadata = running.provider.next()
      const request = begin(running.port, { path, body: { ...body, stream: true } })
      const response = await answered(request)
      await once(response, 'data')
      request.destroy()
      await (await metadata).closed
      await settledAfter(running, 1)
      assert.equal(running.settled[0]?.outcome, 'client_aborted')
    })
    it(`before the first byte of ${path} ends the upstream's request too`, async () => {
      await using running = await start()
      running.provider.script({ silent: true })
      const metadata = running.provider.next()
      const request = begin(running.port, { path, body })
      request.on('error', () => {})
      const provider = await metadata
      request.destroy()
      await provider.closed
      await settledAfter(running, 1)
      const [only] = running.settled
      assert.deepEqual([only?.outcome, only?.status, only?.error], ['client_aborted', 0, null])
      assert.deepEqual(
        only?.attempts.map(({ error }) => error),
        ['CLIENT_GONE'],
      )
    })
  }
  it('after the last event, before the end of the reply, has got everything', async () => {
    await using running = await start()
    for (const [path, body] of styles) {
      const whole = replyFor(path, true).body
      running.provider.script({ stall_at: Buffer.byteLength(whole) })
      const request = begin(running.port, { path, body: { ...body, stream: true } })
      let got = ''
      for await (const chunk of await answered(request)) {
        got += String(chunk)
        if (got.length === whole.length) break
      }
      await settledAfter(running, running.provider.requests.length)
      assert.equal(running.settled.at(-1)?.outcome, 'ok')
    }
  })
  it('does not end it where the upstream is read on; what it used is known', async () => {
    const left = Promise.withResolvers<void>()
    const watch = {
      name: 'watch-client',
      apply: (gateway: Started['gateway']) =>
        gateway.hooks.forward.tap(
          { name: 'watch-client', stage: -1 },
          (_call, client) => void client.onGone(left.resolve),
        ),
    }
    await using running = await start({ upstream: { on_disconnect: 'drain' }, plugins: [watch] })
    const { promise, resolve } = Promise.withResolvers<void>()
    const reply = replyFor('/v1/messages', true)
    running.provider.script({ body: reply.body, headers: { 'content-type': reply.type }, until: promise })
    const metadata = running.provider.next()
    const request = begin(running.port, {
      path: '/v1/messages',
      body: { model: 'm', max_tokens: 1, messages: [], stream: true },
    })
    request.on('error', () => {})
    await metadata
    request.destroy()
    await left.promise
    resolve()
    await settledAfter(running, 1)
    assert.deepEqual([running.settled[0]?.outcome, running.settled[0]?.usage.output_tokens], ['client_aborted', 5])
  })
})
