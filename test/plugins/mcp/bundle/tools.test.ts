import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { resultOf } from '../../../kit/mcp.ts'
import { namesIn, startBundle, tools } from './kit.ts'

const DEFINITION =
  '{"name":"add","description":"a","inputSchema":{"type":"object"},"_meta":{"big":12345678901234567890}}'
const POLICY = `version: 1
default: allow
rules:
  - { id: no-status-of-two, action: deny, tools: [status], servers: [two] }
`

describe('tools of a bundle', () => {
  const opened = new AsyncDisposableStack()
  after(() => opened.disposeAsync())

  it('are called by names that begin with their server, and nothing else of them changes', async () => {
    const one = await startBundle(opened, {
      up: { results: { 'tools/list': `{"tools":[${DEFINITION}],"_meta":{"x":1e400}}` } },
      two: { results: { 'tools/list': tools('add', 'status') } },
    })
    const client = await one.session()
    const list = await client.request('tools/list')
    console.log(
      list.text,
      (await one.service.session()).request && (await (await one.service.session()).request('tools/list')).text,
    )
    assert.deepEqual(namesIn(list), ['up_add', 'two_add', 'two_status'])
    assert.ok(list.text.includes(DEFINITION.replace('"add"', '"up_add"')), list.text)
    const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"up_add","arguments":{"n":12345678901234567890},"_meta":{"a":1.0}}}`
    await client.post(call)
    assert.equal(one.up.calls('tools/call')[0]?.raw, call.replace('up_add', 'add'))
    assert.equal(one.two.calls('tools/call').length, 0)
  })

  it('are judged once, by the rules for their server and their own names, and are on record under it', async () => {
    const listed = { results: { 'tools/list': tools('status') } }
    const one = await startBundle(opened, { policy: POLICY, up: listed, two: listed })
    const client = await one.session()
    await client.request('tools/list')
    const [allowed, denied] = [await client.call('up_status'), await client.call('two_status')]
    assert.equal(resultOf(allowed).isError, undefined)
    assert.match(denied.text, /Denied by rule 'no-status-of-two'/)
    assert.equal(one.two.calls('tools/call').length, 0)
    const { json } = await one.service.gateway.request('GET', '/api/v1/mcp/events?kind=decision')
    const { events } = json as { events: { server_id: string; tool: string; action: string }[] }
    assert.deepEqual(events.map(({ server_id, tool, action }) => [server_id, tool, action]).sort(), [
      ['two', 'status', 'deny'],
      ['up', 'status', 'allow'],
    ])
  })

  it('can be renamed, left out, and keep their names; what is left out cannot be called', async () => {
    const one = await startBundle(opened, {
      bundle: 'names: as_is, servers: { up: { rename: { a: begin }, hide: ["b*"] }, two: { prefix: t-, hide: [z] } }',
      up: { results: { 'tools/list': tools('a', 'b1', 'c') } },
      two: { results: { 'tools/list': tools('a', 'z') } },
    })
    const client = await one.session()
    assert.deepEqual(namesIn(await client.request('tools/list')), ['begin', 'c', 't-a'])
    await client.call('begin')
    assert.equal(one.up.calls('tools/call')[0]?.message?.params?.name, 'a')
    for (const name of ['b1', 'a']) assert.match((await client.call(name)).text, /-32602.*Unknown tool/)
    assert.equal(one.up.calls('tools/call').length + one.two.calls('tools/call').length, 1)
  })

  it('are found before a client has listed them', async () => {
    const one = await startBundle(opened, {
      bundle: 'names: as_is, servers: { up: {}, two: {} }',
      up: { results: { 'tools/list': tools('a') } },
      two: { results: { 'tools/list': tools('b.c') } },
    })
    const client = await one.session()
    await client.call('b.c')
    assert.equal(one.two.calls('tools/call')[0]?.message?.params?.name, 'b.c')
    assert.match((await client.call('nowhere')).text, /Unknown tool: \\"nowhere\\"/)
  })

  it('of all configured servers are at /mcp/all', async () => {
    const listed = { results: { 'tools/list': tools('a') } }
    const one = await startBundle(opened, { up: listed, two: listed })
    const client = await one.service.session({}, 'all')
    assert.deepEqual(namesIn(await client.request('tools/list')), ['up_a', 'two_a'])
    assert.deepEqual(resultOf(await client.request('ping')), {})
    assert.match((await client.request('x/own')).text, /-32601.*names no server of the bundle/)
  })
})
