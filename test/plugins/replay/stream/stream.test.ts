import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { type EventV1, eventV1 } from '../../../../plugins/replay/stream/events.ts'
import { SentMessages } from '../../../../plugins/replay/stream/sent-messages.ts'
import { Stream } from '../../../../plugins/replay/stream/stream.ts'
import { type Started, startGateway } from '../../../kit/gateway.ts'
import { assertsSchema } from '../../../kit/schemas.ts'
import { refused, startReplay } from '../kit.ts'

/** Opens a stream and returns a reader that waits for a text in it. */
const listen = async (url: string, headers: Readonly<Record<string, string>> = {}) => {
  const [reply] = (await once(get(url, { agent: false, headers }), 'response')) as [IncomingMessage]
  let text = ''
  reply.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  reply.on('error', () => {})
  const until = async (wanted: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = wanted.exec(text)
      if (found !== null) return found
      await once(reply, 'data')
    }
  }
  return { reply, until }
}

const anEvent = (name: string): EventV1 =>
  eventV1(
    { id: name, name, span_id: null, time_ns: 1n, severity: 'info', request_id: null, attributes: {} },
    { trace_id: 't', session_id: null, project_id: 'default', agent_id: null, origin: 'api' },
  )

describe('GET /api/v1/stream', () => {
  let running: Started
  before(async () => {
    running = await startGateway()
  })
  after(() => running.close())

  it('sends written runs', async () => {
    const { reply, until } = await listen(`${running.url}/api/v1/stream`)
    assert.match(String(reply.headers['content-type']), /^text\/event-stream/)
    await until(/: listening/)
    await running.request('POST', '/api/v1/traces', { trace_id: 'seen', project_id: 'shop', status: 'error' })
    const [, data = ''] = await until(/event: run\.updated\ndata: (.*)\n\n/)
    assert.deepEqual(JSON.parse(data), {
      trace_id: 'seen',
      project_id: 'shop',
      session_id: null,
      origin: 'api',
      status: 'error',
      revision: 1,
    })
    reply.destroy()
  })

  for (const kind of ['runs', 'events'])
    it(`resumes after the last message of a lost connection: ${kind}`, async () => {
      const url = `${running.url}/api/v1/stream?kind=${kind}`
      const write = (name: string) => {
        const run = { trace_id: `${kind}-${name}`, events: [{ name }] }
        return running.request('POST', '/api/v1/traces', run)
      }
      const named = (name: string): RegExp => new RegExp(`id: (\\S+)\nevent: \\S+\ndata: .*"${kind}-${name}".*\n\n`)
      const first = await listen(url)
      await first.until(/: listening\nid: \S+\n\n/)
      await write('before')
      const [, id = ''] = await first.until(named('before'))
      first.reply.destroy()
      await write('missed')
      const again = await listen(url, { 'last-event-id': id })
      const [, missed = ''] = await again.until(named('missed'))
      await write('later')
      const [heard] = await again.until(new RegExp(`[\\s\\S]*${named('later').source}`))
      assert.deepEqual(
        [...heard.matchAll(/"(?:runs|events)-(\w+)"/g)].map(([, name]) => name),
        ['missed', 'later'],
      )
      assert.doesNotMatch(heard, /reset/)
      assert.notEqual(missed, id)
      again.reply.destroy()
    })

  it('sends a reset for an unknown id, then the runs written since', async () => {
    const url = `${running.url}/api/v1/stream`
    const now = Date.now()
    await running.request('POST', '/api/v1/traces', { trace_id: 'restarted' })
    const other = await listen(url, { 'last-event-id': `0123456789ab-7-${now}` })
    const [heard] = await other.until(/[\s\S]*"trace_id":"restarted".*\n\n/)
    assert.match(heard, /^: listening\n\nid: \S+\nevent: reset\ndata: \{"message":".*"\}\n\nevent: run\.updated\n/)
    other.reply.destroy()
    for (const id of ['x', '17'] as const) {
      const odd = await listen(url, { 'last-event-id': id })
      await odd.until(/event: reset\n/)
      odd.reply.destroy()
    }
  })

  it('sends every stored event as event.v1 on request', async () => {
    const { reply, until } = await listen(`${running.url}/api/v1/stream?kind=events`)
    await until(/: listening/)
    const secret = `sk-ant-api03-${'aB3'.repeat(31)}AA`
    const events = [{ trace_id: 'evented', name: 'file.change', attributes: { note: secret } }]
    await running.request('POST', '/api/v1/events/batch', { events })
    const [, data = ''] = await until(/event: event\ndata: (.*)\n\n/)
    const event: { name?: string; trace_id?: string } = JSON.parse(data)
    assertsSchema('event')(event)
    assert.deepEqual([event.name, event.trace_id, data.includes('sk-ant')], ['file.change', 'evented', false])
    reply.destroy()
  })

  it('sends stored times and severities', async () => {
    const { reply, until } = await listen(`${running.url}/api/v1/stream?kind=events`)
    await until(/: listening/)
    const spans = [{ name: 'x', end_ns: '1600000000000000007', events: [{ name: 'exception' }] }]
    await running.request('POST', '/api/v1/traces', { trace_id: 'stored', spans })
    const [, data = ''] = await until(/event: event\ndata: (.*"stored".*)\n\n/)
    assert.match(data, /"time_ns":1600000000000000007,.*"severity":"error"/)
    reply.destroy()
  })

  it('rejects another kind, and too many listeners', async () => {
    const bench = await startReplay()
    refused(400, 'INVALID_FILTER', await bench.send('GET', '/api/v1/stream?kind=x'))
    await bench.close()
    const open = await Promise.all(Array.from({ length: 32 }, () => listen(`${running.url}/api/v1/stream`)))
    await Promise.all(open.map(({ until }) => until(/: listening/)))
    const answer = await running.request('GET', '/api/v1/stream')
    assert.equal(answer.status, 503)
    assert.match(answer.text, /STREAM_FULL/)
    for (const { reply } of open) reply.destroy()
  })

  it('ends with the gateway', async () => {
    const other = await startGateway()
    const { reply, until } = await listen(`${other.url}/api/v1/stream`)
    await until(/: listening/)
    const ended = once(reply, 'close')
    await other.close()
    await ended
  })
})

describe('a stream', () => {
  it('sends a run at most four times a second, with its newest state', async (test) => {
    const bench = await startReplay()
    test.after(() => bench.close())
    await bench.send('POST', '/api/v1/traces', { trace_id: 'r' })
    const row = await bench.gateway.storage.get('runs', 'r')
    assert.ok(row !== undefined)
    test.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    const stream = new Stream(bench.gateway)
    const listener = stream.open('runs')
    for (let revision = 2; revision < 50; revision++) stream.runWritten({ ...row, revision })
    test.mock.timers.tick(250)
    const text = String(listener.read())
    assert.deepEqual([text.match(/run\.updated/g)?.length, text.includes('"revision":49')], [1, true])
    test.mock.timers.tick(15_000)
    assert.match(String(listener.read()), /: still here/)
    stream.end()
  })

  it('retains messages, and knows which ones a listener missed', () => {
    const sent = new SentMessages(() => 5)
    const begin = sent.id
    const after = (kind: 'runs' | 'events', id: string) =>
      sent
        .after(kind, id)
        ?.map(({ text }) => text)
        .join('')
    assert.equal(after('runs', begin), '')
    const texts = Array.from(
      { length: 10 },
      (_, n) => sent.add(n % 2 === 0 ? 'runs' : 'events', 'run.updated', `${n}`).text,
    )
    assert.equal(after('events', begin), texts.filter((_, n) => n % 2 === 1).join(''))
    const [, third = ''] = /^id: (.*)\n/.exec(texts[2] ?? '') ?? []
    assert.equal(after('runs', third), `${texts[4]}${texts[6]}${texts[8]}`)
    for (let n = 0; n < 1_000; n++) sent.add('events', 'event', '')
    assert.equal(sent.after('events', begin), undefined)
    const late = sent.id
    sent.forget('events')
    assert.deepEqual([after('events', late), after('runs', late)], [undefined, ''])
    const before = sent.id
    sent.add('runs', 'run.updated', 'x'.repeat(600_000))
    assert.equal(sent.after('runs', before), undefined)
    assert.equal(new SentMessages(() => 5).after('runs', before), undefined)
  })

  it('retains messages for a minute after its last listener, then resets', async (test) => {
    const bench = await startReplay()
    test.after(() => bench.close())
    test.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    const stream = new Stream(bench.gateway)
    const first = stream.open('events')
    const [, id = ''] = /id: (\S+)/.exec(String(first.read())) ?? []
    stream.close(first)
    assert.deepEqual([stream.size, stream.hasListeners, stream.hasEventListeners], [0, true, true])
    stream.eventStored(anEvent('missed'))
    const again = stream.open('events', id)
    assert.match(String(again.read()), /^: listening\n\nid: \S+\nevent: event\ndata: \{.*"missed".*\}\n\n$/)
    stream.close(again)
    test.mock.timers.tick(60_000)
    assert.deepEqual([stream.hasListeners, stream.hasEventListeners], [false, false])
    assert.match(String(stream.open('events', id).read()), /event: reset/)
    stream.end()
  })

  it('drops a listener that does not read', async (test) => {
    const bench = await startReplay()
    test.after(() => bench.close())
    const stream = new Stream(bench.gateway)
    const listener = stream.open('events')
    for (let n = 0; n < 3 && stream.size > 0; n++) stream.eventStored(anEvent('x'.repeat(70_000)))
    assert.deepEqual([stream.size, listener.destroyed], [0, true])
  })

  it('finds writes of other processes', async (test) => {
    const bench = await startReplay()
    test.after(() => bench.close())
    await bench.send('POST', '/api/v1/traces', { trace_id: 'theirs' })
    test.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    const stream = new Stream(bench.gateway)
    const listener = stream.open('runs')
    listener.read()
    bench.clock.advance(5)
    await stream.poll()
    const updated_ns = BigInt(bench.clock.now()) * 1_000_000n
    await bench.gateway.storage.patch('runs', 'theirs', { writer: 'other:1:1', updated_ns })
    await stream.poll()
    test.mock.timers.tick(250)
    assert.match(String(listener.read()), /"trace_id":"theirs"/)
    stream.end()
  })
})
