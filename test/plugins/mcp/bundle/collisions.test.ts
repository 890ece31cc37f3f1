import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { namesIn, offer, startBundle, tools, untilSaid } from './kit.ts'

const AS_IS = 'names: as_is, servers: { up: {}, two: {} }'

interface Shown {
  readonly id: string
  readonly collisions: readonly { readonly kind: string; readonly name: string; readonly servers: readonly string[] }[]
}

describe('a name that two servers of a bundle have', () => {
  const opened = new AsyncDisposableStack()
  after(() => opened.disposeAsync())

  it('is served for neither, and said with both names and the way out: to the client, in the answer to a call, on the page', async () => {
    const one = await startBundle(opened, {
      bundle: AS_IS,
      up: { results: { 'tools/list': tools('status', 'a') } },
      two: { results: { 'tools/list': tools('status', 'b') } },
    })
    const client = await one.session()
    const said = await untilSaid(
      client,
      ({ method }) => method === 'notifications/message',
      async () => assert.deepEqual(namesIn(await client.request('tools/list')), ['a', 'b']),
    )
    const text =
      /The bundle "work" has two of the tool "status": one of the MCP server "up" and one of "two"\. Neither is served\. Give one of them another name by mcp\.bundles\.work\.servers\.two, with rename, prefix or hide\./
    assert.match(String(said.at(-1)?.params?.data), text)
    const call = await client.call('status')
    assert.match(String(call.json?.error?.message), text)
    assert.equal(one.up.calls('tools/call').length + one.two.calls('tools/call').length, 0)
    const { json } = await one.service.gateway.request('GET', '/api/v1/mcp/servers')
    const [shown] = (json as { bundles: readonly Shown[] }).bundles.filter(({ id }) => id === 'work')
    assert.deepEqual(
      shown?.collisions.map(({ kind, name, servers }) => [kind, name, servers]),
      [['tools', 'status', ['up', 'two']]],
    )
    const page = await one.service.gateway.request('GET', '/mcp')
    assert.match(page.text, /two of the tool &quot;status&quot;|two of the tool "status"/)
  })

  it('stays refused while one of them is not there', async () => {
    const listed = { results: { 'tools/list': tools('status') } }
    const one = await startBundle(opened, { bundle: AS_IS, up: listed, two: listed })
    const client = await one.session()
    await client.request('tools/list')
    await one.two.close()
    assert.match((await client.call('status')).text, /Neither is served/)
  })

  it('on a later page makes the client list again, and is served for neither then', async () => {
    const one = await startBundle(opened, {
      bundle: AS_IS,
      up: { results: { 'tools/list': tools('status') } },
      two: { results: { 'tools/list': '{"tools":[],"nextCursor":"2"}' } },
    })
    const client = await one.session()
    const first = await client.request('tools/list')
    assert.deepEqual(namesIn(first), ['status'])
    offer(one.two, { results: { 'tools/list': tools('status') } })
    await untilSaid(
      client,
      ({ method }) => method === 'notifications/tools/list_changed',
      async () => {
        const second = await client.request('tools/list', { cursor: first.json?.result?.nextCursor })
        assert.deepEqual(namesIn(second), [])
      },
    )
    assert.deepEqual(namesIn(await client.request('tools/list')), [])
  })

  it('can be two names of one server', async () => {
    const one = await startBundle(opened, { up: { results: { 'tools/list': tools('a.b', 'a_b') } } })
    const client = await one.session()
    assert.equal(namesIn(await client.request('tools/list')).includes('up_a_b'), false)
    assert.match((await client.call('up_a_b')).text, /one of the MCP server \\"up\\" and one of \\"up\\"/)
  })

  it('of a prompt or an address is refused likewise', async () => {
    const has = {
      capabilities: { prompts: {}, resources: {} },
      results: {
        'prompts/list': '{"prompts":[{"name":"p"}]}',
        'resources/list': '{"resources":[{"uri":"x://1","name":"one"}]}',
        'resources/templates/list': '{"resourceTemplates":[{"uriTemplate":"y://{id}","name":"t"}]}',
      },
    }
    const one = await startBundle(opened, { bundle: AS_IS, up: has, two: has })
    const client = await one.session()
    assert.match((await client.request('prompts/get', { name: 'p' })).text, /two of the prompt/)
    assert.match((await client.request('resources/read', { uri: 'x://1' })).text, /Ask at \/mcp\/up or \/mcp\/two/)
    assert.match((await client.request('resources/read', { uri: 'y://7' })).text, /two of the resource template/)
    assert.deepEqual(namesIn(await client.request('prompts/list'), 'prompts'), [])
  })
})
