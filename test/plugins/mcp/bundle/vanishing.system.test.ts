import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { mcpOf } from '../../../../plugins/mcp/mcp.ts'
import { startMcp } from '../../../kit/mcp.ts'
import { testServerChild } from '../../../kit/mcp-proxy.ts'
import { mcpUpstream, sendJson } from '../../../kit/mcp-upstream.ts'
import { namesIn, offer, startBundle, sweep, tools, untilSaid } from './kit.ts'

const listChanged = ({ method }: { readonly method?: string }) => method === 'notifications/tools/list_changed'

describe('a server of a bundle that goes away', () => {
  const opened = new AsyncDisposableStack()
  after(() => opened.disposeAsync())

  it('fails its calls in words, leaves the lists, and is back by another session when it is there', async () => {
    const { up, two, service, session } = await startBundle(opened, {
      up: { results: { 'tools/list': tools('a') } },
      two: { results: { 'tools/list': tools('b') } },
    })
    const client = await session()
    await client.request('tools/list')
    await two.close()
    const said = await untilSaid(client, listChanged, async () => {
      const call = await client.call('two_b')
      assert.equal(call.status, 200)
      assert.match(String(call.json?.error?.message), /could not be reached/)
    })
    assert.match(String(said[0]?.params?.data), /The MCP server "two" is not there any more: .*could not be reached/)
    assert.deepEqual(namesIn(await client.request('tools/list')), ['up_a'])
    assert.match((await client.call('two_b')).text, /The MCP server \\"two\\" of the bundle \\"work\\" is not there: /)
    assert.match((await client.call('up_a')).text, /"result"/)
    const { port } = new URL(two.url)
    const back = opened.adopt(await mcpUpstream(Number(port)), (one) => one.close())
    offer(back, { results: { 'tools/list': tools('b', 'c') } })
    for (const running of (await mcpOf(service.gateway.gateway).bundles()).sessions)
      for (const member of running.members) member.retryNow()
    await untilSaid(client, listChanged, () => sweep({ up, two, service, session }))
    assert.deepEqual(namesIn(await client.request('tools/list')), ['up_a', 'two_b', 'two_c'])
    assert.match((await client.call('two_b')).text, /"result"/)
  })

  it('and has only ended its session, is asked again by another one', async () => {
    const { two, session } = await startBundle(opened, { two: { capabilities: { tools: {}, resources: {} } } })
    const client = await session()
    await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await client.request('resources/subscribe', { uri: 'x://1' })
    const answers = two.answering
    let forgotten = true
    two.answering = (asked, response) => {
      if (asked.message?.method !== 'tools/call' || !forgotten) return answers(asked, response)
      forgotten = false
      return sendJson(response, '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"}}', 404)
    }
    const call = await client.call('two_read_file', { path: 'x' })
    assert.equal(call.status, 200)
    assert.match(String(call.json?.error?.message), /"two" has ended its session; the next call opens another\. Repeat/)
    assert.match((await client.call('two_read_file', { path: 'x' })).text, /"result"/)
    assert.equal(two.calls('initialize').length, 2)
    while (two.calls('resources/subscribe').length < 2) await new Promise(setImmediate)
    assert.equal(two.calls('notifications/initialized').length, 2)
  })

  it('as a child in the middle of calls, has all of them answered', async () => {
    const child = testServerChild('--misbehave', 'drop')
    const service = opened.use(
      await startMcp({ mcp: 'bundles: { work: {} }', servers: `child: ${JSON.stringify(child)}` }),
    )
    const client = await service.session({}, 'work')
    await client.request('tools/list')
    const [running] = [...mcpOf(service.gateway.gateway).sessions].filter(
      ({ session }) => session.server.id === 'child',
    )
    const calls = [client.call('child_slow', { ms: 60_000 }), client.call('child_slow', { ms: 60_000 })]
    while ((running?.session.clientRequests.size ?? 0) < 2) await new Promise(setImmediate)
    await running?.session.link.end()
    for (const call of await Promise.all(calls)) assert.match(call.text, /-32603.*(exited|ended)/)
    assert.match((await client.call('child_echo', { text: 'back' })).text, /back/)
  })
})
