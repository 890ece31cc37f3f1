import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Settled } from 'guard-gateway/core'
import type { CallRecord } from '#lib/trace'
import { type Dialect, dialects } from '../kit/dialogue.ts'
import { rawHttp } from '../kit/raw-http.ts'
import { replyFor } from '../kit/replies.ts'
import { type Service, startService } from '../kit/service.ts'
import { settlements } from '../kit/settlements.ts'

const upstreams = (url: string): string =>
  `[{ name: provider, base_url: "${url}", styles: [messages, responses, chat_completions]}]`

describe('a connection that ends too early', () => {
  const ended = settlements()
  let service: Service
  let count = 0
  before(async () => {
    service = await startService({ plugins: [ended], upstreams })
  })
  after(() => service[Symbol.asyncDispose]())
  beforeEach(() => {
    count = ended.all.length
  })

  const port = (): number => Number(new URL(service.gateway.url).port)
  const ask = (dialect: Dialect, task: string, version = '1.1'): string => {
    const body = JSON.stringify(dialect.body([{ user: task }], { stream: true }))
    return [
      `POST ${dialect.path} HTTP/${version}`,
      'host: 127.0.0.1',
      `x-api-key: ${service.gateway.key}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      'x-guard-session-id: ends-early',
      'connection: close',
      '',
      body,
    ].join('\r\n')
  }
  /** The call that ended, and its record. */
  const outcome = async (): Promise<readonly [Settled | undefined, CallRecord | undefined]> => {
    const settled = (await ended.reach(count + 1)).at(count)
    return [settled, await service.gateway.gateway.storage.get('calls', settled?.call.id ?? '')]
  }
  /** Asks over a socket of its own, which the caller closes. */
  const open = (dialect: Dialect, task: string, version?: string): Socket => {
    const socket = connect(port(), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(ask(dialect, task, version))
    return socket
  }
  /** Resolves when so many bytes have come behind the head. */
  const received = async (socket: Socket, part: string): Promise<void> => {
    let text = ''
    for await (const [chunk] of chunks(socket)) {
      text += chunk.toString()
      if (text.includes(part)) return
    }
  }

  for (const dialect of dialects) {
    const whole = replyFor(dialect.path, true).body

    it(`${dialect.style}: the client leaves before the reply, and the provider is let go`, async () => {
      service.provider.script({ silent: true })
      const arrived = service.provider.next()
      const socket = open(dialect, 'leave at once')
      const request = await arrived
      socket.destroy()
      await request.closed
      const [, record] = await outcome()
      assert.deepEqual(
        [record?.outcome, record?.status, record?.usage_source, record?.total_tokens],
        ['client_aborted', 0, 'none', 0],
      )
    })

    for (const version of ['1.1', '1.0'])
      it(`${dialect.style}: the client of HTTP/${version} leaves within the reply, and what was reported is kept`, async () => {
        service.provider.script({ stall_at: whole.indexOf('there.') })
        const arrived = service.provider.next()
        const socket = open(dialect, `leave within ${version}`, version)
        const request = await arrived
        await received(socket, 'Hello')
        socket.destroy()
        await request.closed
        const [, record] = await outcome()
        assert.equal(record?.outcome, 'client_aborted')
        // only this style tells tokens at the beginning
        const told = dialect.style === 'messages' ? ['partial', 20] : ['estimated', record?.input_tokens]
        assert.deepEqual([record?.usage_source, record?.input_tokens], told)
        assert.ok((record?.total_tokens ?? 0) > 0)
      })

    it(`${dialect.style}: a provider that dies within the reply leaves a broken reply, wherever it is cut`, async () => {
      const places = Array.from({ length: 12 }, (_, n) => Math.floor((whole.length * n) / 12))
      for (const place of places) {
        count = ended.all.length
        service.provider.script({ cut_at: place })
        const { status, headers, body } = await rawHttp(port(), ask(dialect, `cut at ${place}`))
        assert.deepEqual([status, headers['transfer-encoding']], [200, 'chunked'])
        assert.doesNotMatch(body, /\r\n0\r\n/, 'no end of the body')
        assert.ok(whole.startsWith(unchunked(body)), 'what came, came as it was')
        assert.equal(unchunked(body).length, place)
        const [settled, record] = await outcome()
        assert.deepEqual([settled?.outcome, record?.outcome, record?.status], ['truncated', 'truncated', 200])
      }
    })

    it(`${dialect.style}: a reply that ends cleanly without its last event passes, and is recorded as cut short`, async () => {
      const body = whole.slice(0, whole.indexOf('there.'))
      const end = body.lastIndexOf('\n\n') + 2
      service.provider.script({ headers: { 'content-type': 'text/event-stream' }, body: body.slice(0, end) })
      const answer = await rawHttp(port(), ask(dialect, 'no last event'))
      assert.equal(answer.body, body.slice(0, end))
      const [, record] = await outcome()
      assert.equal(record?.outcome, 'truncated')
    })
  }

  it('is told in the history of the session; broken replies count as upstream errors, clients that leave do not', async () => {
    const events = await service.events('ends-early')
    const outcomes = events.map(({ attributes }) => attributes.outcome)
    const flagged = events.filter(({ attributes }) => attributes.reason_code === 'LOOP_ERROR_RETRY')
    assert.ok(flagged.length > 0)
    assert.equal((await service.session('ends-early')).errors, 39)
    assert.equal(outcomes.filter((name) => name === 'client_aborted').length, 9)
    assert.equal(outcomes.filter((name) => name === 'truncated').length, 39)
    assert.equal((await service.request('GET', '/api/health')).status, 200)
  })
})

/** The data of a chunked body, as far as it came. */
const unchunked = (body: string): string => {
  let text = ''
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.slice(at, end), 16)
    text += body.slice(end + 2, end + 2 + size)
    at = end + 2 + size + 2
  }
  return text
}

const chunks = async function* (socket: Socket): AsyncGenerator<readonly [Buffer]> {
  for (;;) yield (await once(socket, 'data')) as [Buffer]
}
