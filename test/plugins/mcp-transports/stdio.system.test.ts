import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { stdio } from 'guard-gateway/plugins/mcp-transports/stdio'
import type { McpLink, McpServer, McpSession } from '#lib/mcp-transport'
import {
  comingEvents,
  eventsIn,
  mcpTransportConforms,
  transportFrame,
  transportSession,
} from '../../conformance/mcp-transport.ts'

const CHILD = join(import.meta.dirname, '../../kit/mcp-child.ts')

const childServer = (...flags: readonly string[]): McpServer => ({
  id: 'child',
  name: 'child',
  transport: 'stdio',
  headers: {},
  timeout_ms: 30_000,
  command: process.execPath,
  args: [...process.execArgv.filter((word) => word.startsWith('--conditions')), CHILD, ...flags],
  env: { PATH: process.env.PATH ?? '' },
})

mcpTransportConforms(stdio, async () => ({ server: childServer(), close: async () => {} }))

describe('the stdio transport', () => {
  const using = async (session: McpSession, work: (link: McpLink) => Promise<void>): Promise<void> => {
    const link = await stdio.open(childServer(), session)
    try {
      await work(link)
    } finally {
      await link.end()
    }
  }
  const request = (id: number, method: string, params = '{}') =>
    transportFrame(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`)

  it('sends a message that came on several lines as one', () =>
    using(transportSession(), async (link) => {
      const reply = await link.post(transportFrame('{\n"jsonrpc":"2.0",\r\n"id":1,"method":"x/line"}'))
      const [event] = await eventsIn(reply)
      assert.equal(
        event?.frame?.text,
        '{"jsonrpc":"2.0","id":1,"result":{"line":"{ \\"jsonrpc\\":\\"2.0\\",  \\"id\\":1,\\"method\\":\\"x/line\\"}"}}',
      )
    }))

  it('answers alone where the answer comes first, else with a stream that the first related message opens', () =>
    using(transportSession(), async (link) => {
      const alone = await link.post(request(1, 'x/line'))
      assert.equal(alone.form, 'json')
      const stream = await link.post(request(2, 'x/progress', '{"_meta":{"progressToken":"p"}}'))
      assert.equal(stream.form, 'sse')
      assert.deepEqual(
        (await eventsIn(stream)).map(({ frame }) => frame?.method ?? frame?.kind),
        ['notifications/progress', 'response'],
      )
      const listened = await link.listen()
      const { value } = await comingEvents(listened).next()
      assert.equal(value?.frame?.method, 'notifications/message')
    }))

  it('gives a request of the server to the only call there is', () =>
    using(transportSession(), async (link) => {
      const stream = await link.post(request(1, 'x/ask'))
      const events = comingEvents(stream)
      assert.equal((await events.next()).value?.frame?.method, 'elicitation/create')
      await link.post(transportFrame('{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}'))
      assert.match((await events.next()).value?.frame?.text ?? '', /decline/)
    }))

  it('ends a call that is cancelled, whose answer may still come and is dropped', async () => {
    const session = transportSession()
    await using(session, async (link) => {
      const cancel = (id: number) =>
        link.post(transportFrame(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`))
      const silent = link.post(request(1, 'x/silent'))
      await cancel(1)
      assert.deepEqual(await silent, { form: 'none', status: 202 })
      const events = comingEvents(await link.post(request(2, 'x/ask')))
      assert.equal((await events.next()).value?.frame?.method, 'elicitation/create')
      await cancel(2)
      assert.equal((await events.next()).done, true)
      await link.post(transportFrame('{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}'))
      await link.post(request(3, 'x/line'))
      assert.deepEqual(session.drops, ['unknown_id'])
    })
  })

  it('keeps 256 messages for who listens later, and drops the oldest', async () => {
    const session = transportSession()
    await using(session, async (link) => {
      for (let count = 0; count < 260; count++) await eventsIn(await link.post(request(count, 'x/progress')))
      const listened = await link.listen()
      assert.ok(listened.form === 'sse')
      assert.equal(session.drops.filter((reason) => reason === 'overflow').length, 264)
      const again = await link.listen()
      assert.deepEqual([again.form, again.form === 'failed' && again.status], ['failed', 409])
      assert.deepEqual(await link.listen('1'), { form: 'none', status: 405 })
    })
  })

  it('fails what waits when the child exits, and everything after', () =>
    using(transportSession(), async (link) => {
      const waiting = link.post(request(1, 'x/silent'))
      const exiting = link.post(request(2, 'x/exit', '{"code":3}'))
      const expected = {
        form: 'failed',
        status: 502,
        code: 'UPSTREAM_UNREACHABLE',
        message: 'Upstream server exited (code 3).',
      }
      assert.deepEqual(await waiting, expected)
      assert.deepEqual(await exiting, expected)
      assert.deepEqual(await link.lost, { reason: 'Upstream server exited (code 3)', exit_code: 3 })
      assert.deepEqual(await link.post(request(3, 'x/line')), expected)
    }))

  it('ends the call whose answer is too large, beside others, and answers the next ones', () =>
    using(transportSession({ frame_bytes: 1_000 }), async (link) => {
      const silent = link.post(request(1, 'x/silent'))
      for (const [id, method] of [
        [2, 'x/big'],
        [3, 'x/big-last-id'],
      ] as const) {
        const [event, ...more] = await eventsIn(await link.post(request(id, method, '{"bytes":5000}')))
        assert.match(event?.fault?.message ?? '', /larger than 1000 bytes/)
        assert.deepEqual([event?.fault?.id, more], [`${id}`, []])
      }
      const asking = link.post(request(4, 'x/big-last-id', '{"bytes":5000,"asking":true}'))
      assert.equal((await link.post(request(5, 'x/line'))).form, 'json')
      await link.post(request(6, 'x/exit'))
      assert.deepEqual([(await silent).form, (await asking).form], ['failed', 'failed'])
    }))

  it('ends the only call when a message is too large', () =>
    using(transportSession({ frame_bytes: 1_000 }), async (link) => {
      const events = await eventsIn(await link.post(request(7, 'x/noise-of', '{"bytes":5000}')))
      assert.deepEqual(
        events.map(({ fault }) => fault?.id),
        [undefined],
      )
      assert.equal((await link.post(request(8, 'x/line'))).form, 'json')
    }))

  it('gives the child its own environment and nothing else', () =>
    using(transportSession(), async (link) => {
      const [event] = await eventsIn(await link.post(request(1, 'x/env')))
      const { result } = JSON.parse(event?.frame?.text ?? '') as { result: object }
      assert.deepEqual(
        Object.keys(result).filter((name) => !name.startsWith('__')),
        ['PATH'],
      )
    }))

  it('hands on what the child writes on its standard error', async () => {
    const written: string[] = []
    const session = transportSession({ stderr: (bytes) => void written.push(bytes.toString()) })
    await using(session, async (link) => void (await link.post(request(1, 'x/line'))))
    assert.equal(written.join(''), 'child: started\n')
  })
})
