import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { asking, requireGateway, type Work } from 'guard-gateway/plugins/cli'
import { tailRuns } from '../../../../plugins/replay/commands/tail.ts'
import { type Started, startGateway } from '../../../kit/gateway.ts'
import { type FakeIo, fakeIo } from '../../../kit/io.ts'
import { refusingPort } from '../../../kit/refusing-port.ts'

/** The part of a process that a command uses. */
const fakeProcess = () => new EventEmitter() as EventEmitter & Pick<NodeJS.Process, 'once' | 'off'>

/** Resolves when the output contains the text. */
const outHolds = async (io: FakeIo, part: string): Promise<void> => {
  const { out } = io
  const write = out.write.bind(out) as (chunk: string) => boolean
  while (!io.outText().includes(part))
    await new Promise<void>((resolve) => {
      out.write = ((chunk: string) => {
        resolve()
        return write(chunk)
      }) as typeof out.write
    })
  out.write = write as typeof out.write
}

describe('replay tail', () => {
  let gateway: Started
  before(async () => {
    gateway = await startGateway({ upstream: 'http://127.0.0.1:1' })
  })
  after(() => gateway.close())

  const tail = (options: Readonly<Record<string, unknown>>, address = gateway.url) => {
    const io = fakeIo()
    const process = fakeProcess()
    const place = { address, gateway_key: gateway.key, config: '' }
    const asked = {
      running: () => requireGateway(place),
      asking: <T>(work: Work<T>) => asking(gateway.gateway, { place, durable: true }, work),
    }
    const code = tailRuns(gateway.gateway.clock, asked, { args: [], options, rest: [] }, io, process)
    return { io, code, interrupt: () => process.emit('SIGINT') }
  }
  const listening = async (listeners: number): Promise<void> => {
    for (;;) {
      const { json } = await gateway.request('GET', '/api/health')
      if ((json as { replay: { listeners: number } }).replay.listeners >= listeners) return
    }
  }
  const send = async (trace_id: string, more: object = {}): Promise<void> => {
    assert.ok((await gateway.request('POST', '/api/v1/traces', { trace_id, ...more })).status < 300)
  }
  const complete = async (headers: Readonly<Record<string, string>> = {}): Promise<void> => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
    assert.equal((await gateway.request('POST', '/v1/chat/completions', body, headers)).status, 502)
  }

  it('prints runs and decisions as they are stored, and exits well when interrupted', async () => {
    const { io, code, interrupt } = tail({})
    await listening(2)
    await send('told', { session_id: 'ses_x', status: 'error' })
    await outHolds(io, 'told')
    await complete()
    await outHolds(io, 'allow')
    interrupt()
    assert.equal(await code, 0)
    const lines = io.outText().trimEnd().split('\n')
    assert.match(lines[0] ?? '', /^\d\d:\d\d:\d\d {2}told {2}error {8}api {9}ses_x$/)
    assert.ok(
      lines.some((line) => /^\d\d:\d\d:\d\d {2}[0-9a-f]{32} {2}allow .* shadow/.test(line)),
      io.outText(),
    )
    assert.equal(io.errText(), '')
  })

  it('prints a run once per status, and one object per line with --json', async () => {
    const { io, code, interrupt } = tail({ project: 'p' })
    const json = tail({ project: 'p', json: true })
    await listening(4)
    await send('other', { project_id: 'q' })
    await send('twice', { project_id: 'p', status: 'running' })
    await outHolds(io, 'running')
    await send('twice', { project_id: 'p', name: 'x' })
    await send('twice', { project_id: 'p', status: 'ok' })
    await outHolds(io, 'ok')
    await outHolds(json.io, '"ok"')
    interrupt()
    json.interrupt()
    assert.deepEqual([await code, await json.code], [0, 0])
    const lines = io.outText().trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => line.split(/ +/).slice(1, 3)),
      [
        ['twice', 'running'],
        ['twice', 'ok'],
      ],
    )
    for (const line of json.io.outText().trimEnd().split('\n')) assert.equal(JSON.parse(line).trace_id, 'twice')
  })

  it('starts with earlier runs, or decisions only, on request', async () => {
    await send('past', { project_id: 'since', status: 'ok' })
    await complete({ 'x-guard-project-id': 'since' })
    const runs = tail({ since: '1h', project: 'since' })
    await outHolds(runs.io, 'gateway')
    runs.interrupt()
    assert.equal(await runs.code, 0)
    assert.match(runs.io.outText(), /past {2}ok/)
    const decisions = tail({ since: '1h', decisions: true, json: true, project: 'since' })
    await outHolds(decisions.io, '\n')
    decisions.interrupt()
    assert.equal(await decisions.code, 0)
    const [event] = decisions.io.outText().split('\n')
    const { schema, name, attributes } = JSON.parse(event ?? '')
    assert.deepEqual([schema, name, attributes.decision], ['event.v1', 'policy.decision', 'allow'])
    assert.ok(!decisions.io.outText().includes('"past"'))
  })

  it('exits well when its reader closes', async () => {
    const { io, code } = tail({})
    await listening(2)
    io.out.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    assert.equal(await code, 0)
    assert.equal(io.out.listenerCount('error'), 0)
  })

  it('prints what to do without a gateway', async () => {
    await using refusing = await refusingPort()
    const address = `http://127.0.0.1:${refusing.port}`
    await assert.rejects(tail({}, address).code, {
      code: 'GATEWAY_NOT_RUNNING',
      message: `No gateway answers at ${address}. Start it with "guard gateway run".`,
    })
  })

  it('exits with the error of a rejected stream', async () => {
    await assert.rejects(tail({ since: 'lately' }).code, { code: 'INVALID_FILTER' })
  })

  it('reconnects a lost stream after the last message', async () => {
    const asked: IncomingMessage[] = []
    const message = (id: number, trace_id: string): string =>
      `id: ${id}\r\nevent: run.updated\r\ndata: ${JSON.stringify({ trace_id, status: 'ok', origin: 'api', project_id: 'p', session_id: null })}\r\n\r\n`
    const answer = (request: IncomingMessage, reply: ServerResponse): void => {
      // requests that check the gateway and the key
      if (request.url?.startsWith('/api/v1/stream') !== true) return void reply.end('{"plugins":["replay"]}')
      if (request.url.endsWith('kind=events')) return void reply.writeHead(200).write(': listening\n\n')
      asked.push(request)
      if (asked.length === 2) return void reply.writeHead(503).end('{"error":{"code":"STREAM_FULL"}}')
      reply.writeHead(200, { 'content-type': 'text/event-stream' })
      if (asked.length > 1) return void reply.write(`event: reset\ndata: {}\n\n${message(8, 'second')}`)
      reply.write(`: listening\n\n${message(7, 'first')}data: cut`)
      reply.write('', () => setImmediate(() => reply.destroy()))
    }
    const server = createServer(answer).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { io, code, interrupt } = tail({}, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      await outHolds(io, 'second')
      interrupt()
      assert.equal(await code, 0)
      assert.deepEqual(
        asked.map(({ headers }) => headers['last-event-id']),
        [undefined, '7', '7'],
      )
      assert.match(io.outText(), /first .*\n.*second /)
      assert.equal(
        io.errText(),
        'The gateway is gone; trying to reach it again.\nThe gateway answers again.\nWhat was stored meanwhile is not all known any more; runs of that time follow, decisions may be missing.\n',
      )
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
