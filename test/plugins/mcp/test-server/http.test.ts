import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type ServedHttp, serveHttp, TestServer } from '../../../../plugins/mcp/test-server/index.ts'
import { initialize } from '../../../kit/mcp.ts'

describe('the MCP test server over HTTP', { timeout: 60_000 }, () => {
  let server: ServedHttp
  let session: Readonly<Record<string, string>>

  const send = (method: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(server.url, {
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
    })
  const call = (id: number, name: string, args: object = {}): Promise<Response> =>
    send('POST', { id, method: 'tools/call', params: { name, arguments: args } }, session)

  before(async () => {
    server = await serveHttp(new TestServer(), 0)
    const response = await send('POST', initialize())
    session = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
    assert.match(await response.text(), /"protocolVersion":"2025-11-25"/)
  })
  after(() => server.close())

  it('answers as JSON where nothing comes before the answer', async () => {
    const response = await call(1, 'echo', { a: 1 })
    assert.equal(response.headers.get('content-type'), 'application/json')
    assert.match(await response.text(), /\{\\"a\\":1\}/)
  })

  it('opens a stream with an empty event that has an id and says when to come back', async () => {
    const response = await call(2, 'test_tool_with_logging')
    const events = (await response.text()).split('\n\n')
    assert.match(events[0] ?? '', /^id: call\d+-0\nretry: 100\ndata: $/)
    assert.deepEqual(
      events.slice(1, 5).map((event) => /"method":"(.*?)"|"result"/.exec(event)?.[0]),
      [
        '"method":"notifications/message"',
        '"method":"notifications/message"',
        '"method":"notifications/message"',
        '"result"',
      ],
    )
  })

  it('keeps an answer whose stream was closed until it is fetched, also twice', async () => {
    const closed = await (await call(3, 'test_reconnection')).text()
    assert.doesNotMatch(closed, /"result"/)
    const [, id = ''] = /id: (\S+)/.exec(closed) ?? []
    for (const _time of [1, 2]) {
      const resumed = await send('GET', undefined, { ...session, 'last-event-id': id })
      assert.match(await resumed.text(), /"id":3,"result"/)
    }
  })

  it('refuses what a client must not do', async () => {
    const ping = { id: 9, method: 'ping' }
    const statuses = await Promise.all([
      send('POST', ping),
      send('POST', ping, { 'mcp-session-id': 'another' }),
      send('POST', ping, { ...session, 'mcp-protocol-version': '1999-01-01' }),
      send('POST', ping, { ...session, accept: 'application/json' }),
      send('POST', ping, { ...session, origin: 'http://evil.example' }),
      send('PUT', ping, session),
      send('GET', undefined, { ...session, 'last-event-id': 'call999-1' }),
    ])
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [400, 404, 400, 406, 403, 405, 400],
    )
  })

  it('has a new definition of one tool whenever its tools are listed', async () => {
    const listed = async () => {
      const response = await send('POST', { id: 5, method: 'tools/list' }, session)
      return /this is version (\d+)/.exec(await response.text())?.[1]
    }
    assert.notEqual(await listed(), await listed())
  })

  it('ends a session once', async () => {
    assert.equal((await send('DELETE', undefined, session)).status, 200)
    assert.equal((await send('DELETE', undefined, session)).status, 404)
  })
})
