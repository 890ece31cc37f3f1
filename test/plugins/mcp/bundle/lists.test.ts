import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { sendJson } from '../../../kit/mcp-upstream.ts'
import { namesIn, startBundle, tools, untilSaid } from './kit.ts'

describe('lists of a bundle', () => {
  const opened = new AsyncDisposableStack()
  after(() => opened.disposeAsync())

  it('go on page by page with whoever has more, one page of each at a time', async () => {
    const one = await startBundle(opened, { two: { results: { 'tools/list': tools('z') } } })
    const pages: Record<string, string> = {
      '': '{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"\\u00e4/2"}',
      'ä/2': '{"tools":[{"name":"b","inputSchema":{"type":"object"}}],"nextCursor":"3","_meta":{"kept":1.0}}',
      '3': '{"tools":[{"name":"c","inputSchema":{"type":"object"}}]}',
    }
    one.up.answering = ({ message }, response) => {
      if (message?.method !== 'tools/list') return false
      const result = pages[String(message.params?.cursor ?? '')]
      return sendJson(response, `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}}`)
    }
    const client = await one.session()
    const first = await client.request('tools/list', { _meta: { mine: true } })
    assert.deepEqual(namesIn(first), ['up_a', 'two_z'])
    const second = await client.request('tools/list', { cursor: first.json?.result?.nextCursor })
    assert.deepEqual(namesIn(second), ['up_b'])
    assert.ok(second.text.includes('"_meta":{"kept":1.0}'), second.text)
    const third = await client.request('tools/list', { cursor: second.json?.result?.nextCursor })
    assert.deepEqual([namesIn(third), third.json?.result?.nextCursor], [['up_c'], undefined])
    assert.equal(one.two.calls('tools/list').length, 1)
    assert.deepEqual(one.up.calls('tools/list')[0]?.message?.params, { _meta: { mine: true } })
  })

  it('refuse cursors that are not theirs', async () => {
    const one = await startBundle(opened)
    const client = await one.session()
    const prompts = Buffer.from('["prompts",1,{"up":"2"}]').toString('base64url')
    for (const cursor of ['', 'abc', prompts, Buffer.from('["tools",0,{"up":"2"}]').toString('base64url'), 7])
      assert.match((await client.request('tools/list', { cursor })).text, /-32602.*cursor is none of tools\/list/)
  })

  it('that do not end are cut off after 1,000 pages, which is said', async () => {
    const one = await startBundle(opened, {
      up: { capabilities: { prompts: {} }, results: { 'prompts/list': '{"prompts":[],"nextCursor":"on"}' } },
    })
    const client = await one.session()
    const cursor = Buffer.from('["prompts",999,{"up":"on"}]').toString('base64url')
    await untilSaid(
      client,
      ({ params }) => /lists its prompts on more than 1000 pages/.test(String(params?.data)),
      async () => {
        const last = await client.request('prompts/list', { cursor })
        assert.deepEqual([namesIn(last, 'prompts'), last.json?.result?.nextCursor], [[], undefined])
      },
    )
  })

  it('that one server refuses or garbles are those of the others, which is said; if no one has any, its error is the answer', async () => {
    const one = await startBundle(opened, { two: { results: { 'tools/list': '{"tools":7}' } } })
    const refusing = { error: { code: -32050, message: 'Not today', data: { until: 12 } } }
    const client = await one.session()
    await untilSaid(
      client,
      ({ params }) => /"two" gave no list of its tools: what it sent is no list/.test(String(params?.data)),
      async () => assert.equal(namesIn(await client.request('tools/list')).length, 3),
    )
    one.up.answering = ({ message }, response) =>
      message?.method === 'tools/list' &&
      sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, ...refusing }))
    const none = await client.request('tools/list')
    assert.deepEqual([none.json?.id, none.json?.error], [2, refusing.error])
  })

  it('do not wait for a slow server, whose page is part of the next list', async () => {
    const one = await startBundle(opened, { bundle: 'wait_seconds: 1, servers: { up: {}, two: {} }' })
    const { promise, resolve } = Promise.withResolvers<void>()
    one.two.answering = async ({ message }, response) => {
      if (message?.method !== 'tools/list') return false
      await promise
      return sendJson(response, `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${tools('late')}}`)
    }
    const client = await one.session()
    await untilSaid(
      client,
      ({ method }) => method === 'notifications/tools/list_changed',
      async () => {
        assert.equal(namesIn(await client.request('tools/list')).length, 3)
        resolve()
      },
    )
    assert.deepEqual(namesIn(await client.request('tools/list')).at(-1), 'two_late')
    assert.equal(one.two.calls('tools/list').length, 1)
  })

  it('that no server has do not exist', async () => {
    const one = await startBundle(opened)
    const client = await one.session()
    assert.match((await client.request('prompts/list')).text, /-32601.*No server of the bundle .*has prompts/)
  })
})
