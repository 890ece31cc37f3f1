import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { type McpClient, type McpService, startMcp } from '../../../kit/mcp.ts'
import { beginEvents, sendJson } from '../../../kit/mcp-upstream.ts'

describe('frames through the HTTP server', () => {
  let service: McpService
  let client: McpClient
  before(async () => {
    service = await startMcp()
    client = await service.session()
  })
  after(() => service[Symbol.asyncDispose]())
  afterEach(() => {
    service.upstream.answering = () => false
  })

  it('4.5: pass byte for byte in both directions, ids and unknown members included', async () => {
    const sent =
      '{ "jsonrpc":"2.0",\n "id":12345678901234567891, "method":"tools/call", "x-vendor":[1.0, 1e2],\n"params":{"name":"echo","arguments":{"n":12345678901234567890,"e":"\\u00e9","u":"é"}, "other": null}}'
    const reply =
      '{"result":{"content":[],"n":98765432109876543210.50},\t"id":12345678901234567891,"jsonrpc":"2.0","vendor":{"a":1}}'
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'tools/call' && sendJson(response, reply)
    const { status, text } = await client.post(sent)
    assert.deepEqual([status, text], [200, reply])
    assert.equal(service.upstream.calls('tools/call').at(-1)?.raw, sent)
  })

  it('give an answer its id back where the server has rounded it', async () => {
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'x/y' && sendJson(response, `{"jsonrpc":"2.0","id":${message.id},"result":{ "a":1 }}`)
    for (const id of ['12345678901234567891', '-123456789012345678901234567890']) {
      const { text } = await client.post(`{"jsonrpc":"2.0","id":${id},"method":"x/y"}`)
      assert.equal(text, `{"jsonrpc":"2.0","id":${id},"result":{ "a":1 }}`)
    }
  })

  it('carry a request of the server and its answer, once', async () => {
    service.upstream.answering = async ({ message, method }, response) => {
      if (method !== 'POST' || message?.method !== 'x/ask') return false
      beginEvents(response).write(
        'data: {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[]}}\n\n',
      )
      const { message: answer } = await answered
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 'q', result: { got: answer?.result } })}\n\n`)
      return true
    }
    const answered = new Promise<(typeof service.upstream.asked)[number]>((resolve) => {
      const inner = service.upstream.answering
      service.upstream.answering = (asked, response) => {
        if (asked.message?.id === 1 && asked.message.method === undefined) resolve(asked)
        return inner(asked, response)
      }
    })
    const response = await client.fetch('POST', '{"jsonrpc":"2.0","id":"q","method":"x/ask"}')
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    assert.match((await reader?.read())?.value ?? '', /sampling\/createMessage/)
    const reply = '{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","n":1.50}}'
    assert.equal((await client.post(reply)).status, 202)
    assert.match((await reader?.read())?.value ?? '', /"got":\{"role":"assistant","n":1.5\}/)
    assert.equal((await answered).raw, reply)
    assert.equal((await client.post(reply)).status, 400)
  })

  it('keep ids of the two directions apart', async () => {
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/both') return false
      beginEvents(response).end(
        'data: {"jsonrpc":"2.0","id":5,"method":"roots/list"}\n\ndata: {"jsonrpc":"2.0","id":5,"result":{"mine":true}}\n\n',
      )
      return true
    }
    const response = await client.fetch('POST', '{"jsonrpc":"2.0","id":5,"method":"x/both"}')
    assert.match(await response.text(), /roots\/list.*mine/s)
    assert.equal((await client.post('{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}')).status, 202)
  })

  it('carry back what a server has against a notification', async () => {
    for (const id of ['', '"id":null,', '"id":"server-error",']) {
      const reply = `{"jsonrpc":"2.0",${id}"error":{"code":-32600,"message":"not so"}}`
      service.upstream.answering = ({ message }, response) =>
        message?.method === 'notifications/odd' && sendJson(response, reply, 400)
      const { status, text } = await client.post('{"jsonrpc":"2.0","method":"notifications/odd"}')
      assert.deepEqual([status, text], [400, reply])
    }
  })

  it('make room for further requests of a server with those that it takes back, which may still be answered', async () => {
    await using few = await startMcp({ mcp: 'limits: { pending: 2 }' })
    const session = await few.session()
    const ids = ['a', 'b', 'c', 'd']
    few.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/asks') return false
      const said = ids.flatMap((id) => [
        { id, method: 'elicitation/create', params: {} },
        { method: 'notifications/cancelled', params: { requestId: id } },
      ])
      const events = [...said, { id: 'q', result: {} }].map((one) => JSON.stringify({ jsonrpc: '2.0', ...one }))
      beginEvents(response).end(events.map((data) => `data: ${data}\n\n`).join(''))
      return true
    }
    const text = await (await session.fetch('POST', '{"jsonrpc":"2.0","id":"q","method":"x/asks"}')).text()
    assert.deepEqual(
      [...text.matchAll(/"id":"(\w)","method"/g)].map(([, id]) => id),
      ids,
    )
    assert.equal((await session.post('{"jsonrpc":"2.0","id":"a","result":{"action":"cancel"}}')).status, 202)
  })

  const dropped = async (): Promise<number> => {
    const { json } = await service.gateway.request('GET', '/api/health')
    return (json as { mcp: { dropped: { unknown_id?: number } } }).mcp.dropped.unknown_id ?? 0
  }

  it('drop an answer that nobody asked for, and count it', async () => {
    const before = await dropped()
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/forged') return false
      beginEvents(response).end(
        'data: {"jsonrpc":"2.0","id":999,"result":{}}\n\ndata: {"jsonrpc":"2.0","id":8,"result":{}}\n\n',
      )
      return true
    }
    const response = await client.fetch('POST', '{"jsonrpc":"2.0","id":8,"method":"x/forged"}')
    assert.equal(await response.text(), 'data: {"jsonrpc":"2.0","id":8,"result":{}}\n\n')
    assert.equal(await dropped(), before + 1)
  })

  it('are refused with -32600 while a request of the same id is on its way', async () => {
    let release = (): void => {}
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'x/slow') return false
      release = () => sendJson(response, '{"jsonrpc":"2.0","id":1,"result":{}}')
      return true
    }
    const slow = '{"jsonrpc":"2.0","id":1,"method":"x/slow"}'
    const first = client.post(slow)
    await service.upstream.until('x/slow')
    const second = await client.post(slow)
    assert.deepEqual([second.json?.error?.code, second.json?.id], [-32600, 1])
    release()
    assert.equal((await first).text, '{"jsonrpc":"2.0","id":1,"result":{}}')
  })

  it('tell the server of a cancelled request, swallow what cannot be cancelled, and pass a late answer', async () => {
    let release = (): void => {}
    service.upstream.answering = ({ message }, response) => {
      if (message?.method !== 'tools/call') return false
      release = () => sendJson(response, `{"jsonrpc":"2.0","id":"late","result":{"content":[]}}`)
      return true
    }
    const before = service.upstream.calls('tools/call').length
    const call = client.post('{"jsonrpc":"2.0","id":"late","method":"tools/call","params":{"name":"x"}}')
    while (service.upstream.calls('tools/call').length === before) await new Promise(setImmediate)
    const cancel = (id: string) =>
      client.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`)
    assert.equal((await cancel('"nobody"')).status, 202)
    assert.equal((await cancel('"late"')).status, 202)
    assert.deepEqual(
      service.upstream.calls('notifications/cancelled').map(({ message }) => message?.params?.requestId),
      ['late'],
    )
    release()
    assert.equal((await call).text, '{"jsonrpc":"2.0","id":"late","result":{"content":[]}}')
  })

  it('say -32601 for tasks, and lose the wish to run as one', async () => {
    assert.equal((await client.request('tasks/list')).json?.error?.code, -32601)
    await client.post(
      '{"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"t","task":{"ttl":1},"arguments":{"task":1}}}',
    )
    assert.equal(
      service.upstream.calls('tools/call').at(-1)?.raw,
      '{"jsonrpc":"2.0","id":70,"method":"tools/call","params":{"name":"t","arguments":{"task":1}}}',
    )
  })

  it('refuse a call without a usable name with -32602', async () => {
    for (const params of [
      {},
      { name: 7 },
      { name: '' },
      { name: 'x'.repeat(129) },
      { name: 'x', arguments: [] },
      { name: 'x', arguments: null },
    ])
      assert.equal((await client.request('tools/call', params)).json?.error?.code, -32602, JSON.stringify(params))
  })

  it('pass errors of the server with their data', async () => {
    const reply = '{"jsonrpc":"2.0","id":71,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"a":1.0}]}}}'
    service.upstream.answering = ({ message }, response) => message?.id === 71 && sendJson(response, reply)
    assert.equal(
      (await client.post('{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"name":"x"}}')).text,
      reply,
    )
  })
})
