import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, describe, it } from 'node:test'
import type { McpClient } from '../../../kit/mcp.ts'
import { beginEvents, type McpUpstream, sendJson } from '../../../kit/mcp-upstream.ts'
import { startBundle } from './kit.ts'

/** A call of a tool that asks the client something: the stream it is answered on, and what comes of it. */
interface Asking {
  readonly stream: ServerResponse
  say(message: object | string): void
}

/** Makes calls of tools wait for what the test says on their streams. */
const asking = (upstream: McpUpstream): Promise<Asking> =>
  new Promise((resolve) => {
    const { answering } = upstream
    upstream.answering = (asked, response) => {
      if (asked.message?.method !== 'tools/call') return answering(asked, response)
      const stream = beginEvents(response)
      const say = (message: object | string) =>
        void stream.write(`data: ${typeof message === 'string' ? message : JSON.stringify(message)}\n\n`)
      resolve({ stream, say })
      return true
    }
  })

/** Starts a call, and gives its messages one by one. */
const calling = async (client: McpClient, id: number, name: string, token?: number) => {
  const _meta = token === undefined ? {} : { _meta: { progressToken: token } }
  const body = { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {}, ..._meta } }
  const response = client.fetch('POST', JSON.stringify(body))
  return async function* () {
    let text = ''
    for await (const chunk of (await response).body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) yield String(/^data: (.*)$/m.exec(event)?.[1])
    }
  }
}

const elicit = (id: string, token: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"elicitation/create","params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{}},"_meta":{"progressToken":${token},"n":12345678901234567890}}}`

describe('requests of servers to the client of a bundle', () => {
  const opened = new AsyncDisposableStack()
  after(() => opened.disposeAsync())

  it('of two servers have the same id and token there, and other ones here; answers and progress go to who asked', async () => {
    const one = await startBundle(opened)
    const client = await one.session()
    const [up, two] = [asking(one.up), asking(one.two)]
    const first = (await calling(client, 1, 'up_write_file'))()
    const second = (await calling(client, 2, 'two_write_file'))()
    ;(await up).say(elicit('0', '"t"'))
    const fromUp = String((await first.next()).value)
    ;(await two).say(elicit('0', '"t"'))
    const fromTwo = String((await second.next()).value)
    const told = (id: number, who: string) =>
      elicit(String(id), String(id)).replace('Your name?', `[${who}] Your name?`)
    assert.deepEqual([fromUp, fromTwo], [told(1, 'up'), told(2, 'two')])
    await client.post({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 2, progress: 1 } })
    await client.post('{"jsonrpc":"2.0","id":2,"result":{"action":"accept","content":{"n":12345678901234567890}}}')
    await client.post({ jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no' } })
    const got = (upstream: McpUpstream) =>
      upstream.asked
        .filter(
          ({ message }) =>
            message !== undefined && (message.method === undefined || message.method === 'notifications/progress'),
        )
        .map(({ raw }) => raw)
    assert.deepEqual(got(one.two), [
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}',
      '{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{"n":12345678901234567890}}}',
    ])
    assert.deepEqual(got(one.up), ['{"jsonrpc":"2.0","id":0,"error":{"code":-1,"message":"no"}}'])
    assert.equal((await client.post({ jsonrpc: '2.0', id: 2, result: {} })).status, 400, 'it was answered')
    for (const [call, id] of [
      [await up, 1],
      [await two, 2],
    ] as const) {
      call.say({ jsonrpc: '2.0', id, result: { content: [] } })
      call.stream.end()
    }
    assert.match(String((await first.next()).value), /"id":1,"result"/)
    assert.match(String((await second.next()).value), /"id":2,"result"/)
  })

  it('are taken back by who asked', async () => {
    const one = await startBundle(opened)
    const client = await one.session()
    const two = asking(one.two)
    const messages = (await calling(client, 1, 'two_write_file'))()
    const { say, stream } = await two
    say(elicit('7', '1'))
    await messages.next()
    say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } })
    say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
    assert.match(String((await messages.next()).value), /"requestId":1}/)
    assert.equal((await client.post({ jsonrpc: '2.0', id: 1, result: {} })).status, 400)
    stream.end()
    assert.match(String((await messages.next()).value), /ended the stream without an answer/)
  })

  it('leave progress and log messages as they are, but for another server’s progress, and the name of the server', async () => {
    const one = await startBundle(opened)
    const client = await one.session()
    const [up, two] = [asking(one.up), asking(one.two)]
    const first = (await calling(client, 1, 'up_write_file', 11))()
    const second = (await calling(client, 2, 'two_write_file', 12))()
    await up
    const { say, stream } = await two
    const progress = (token: number) =>
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1.0}}`
    for (const token of [11, 12, 13]) say(progress(token))
    say({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } })
    say({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', logger: 'db', data: 1 } })
    const heard = [] as string[]
    for (let count = 0; count < 4; count++) heard.push(String((await second.next()).value))
    assert.deepEqual(heard.slice(0, 2), [progress(12), progress(13)])
    assert.deepEqual(
      heard.slice(2).map((message) => (JSON.parse(message) as { params: { logger: string } }).params.logger),
      ['two', 'two/db'],
    )
    stream.end()
    ;(await up).stream.end()
    assert.match(String((await first.next()).value), /without an answer/)
  })

  it('and cancels of the client reach the server of the call alone; two requests of one id are refused', async () => {
    const one = await startBundle(opened)
    const client = await one.session()
    const two = asking(one.two)
    const messages = (await calling(client, 5, 'two_write_file'))()
    const { stream } = await two
    const twice = await client.post({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'up_write_file' } })
    assert.match(twice.text, /A request of this id is on its way/)
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } })
    assert.equal(one.two.calls('notifications/cancelled').length, 1)
    assert.equal(one.up.calls('notifications/cancelled').length, 0)
    stream.end()
    assert.equal((await messages.next()).done, true)
  })

  it('that a server answers with an error of HTTP are errors of the call: the session goes on', async () => {
    const one = await startBundle(opened)
    const { answering } = one.two
    one.two.answering = (asked, response) =>
      asked.message?.method === 'tools/call' ? sendJson(response, 'no', 500) : answering(asked, response)
    const client = await one.session()
    const call = await client.call('two_write_file')
    assert.deepEqual([call.status, call.json?.error?.code], [200, -32603])
  })
})
