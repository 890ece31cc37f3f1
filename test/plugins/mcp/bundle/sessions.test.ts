import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { mcpOf } from '../../../../plugins/mcp/mcp.ts'
import { beginEvents, type McpUpstream } from '../../../kit/mcp-upstream.ts'
import { startBundle, sweep, tools, untilSaid } from './kit.ts'

/** Offers a stream; gives what it was asked for after, and a way to say something on it. */
const offerStream = (upstream: McpUpstream) => {
  const { answering } = upstream
  const after: (string | undefined)[] = []
  const open: ReturnType<typeof beginEvents>[] = []
  upstream.answering = (asked, response) => {
    if (asked.method !== 'GET') return answering(asked, response)
    after.push(asked.headers['last-event-id'] as string | undefined)
    open.push(beginEvents(response))
    response.flushHeaders()
    return true
  }
  const said = '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://1","n":1.0}}'
  return { after, said, say: (id: string) => void open.at(-1)?.write(`id: ${id}\nretry: 5\ndata: ${said}\n\n`) }
}

/** Reads one event of a stream. */
const oneEvent = async (response: Response, count = 1): Promise<readonly string[]> => {
  let text = ''
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  while (reader !== undefined && text.split('\n\n').length <= count) text += decoder.decode((await reader.read()).value)
  await reader?.cancel()
  return text.split('\n\n').slice(0, count)
}

const idOf = (event = ''): string => /^id: (.*)$/m.exec(event)?.[1] ?? ''

describe('the session of a client of a bundle', () => {
  const opened = new AsyncDisposableStack()
  after(() => opened.disposeAsync())

  it('is one session at each server, and all end with it', async () => {
    const one = await startBundle(opened)
    const client = await one.session()
    const { sessions } = mcpOf(one.service.gateway.gateway)
    assert.equal(sessions.size, 2)
    assert.equal((await client.fetch('DELETE')).status, 200)
    while (one.two.asked.every(({ method }) => method !== 'DELETE')) await new Promise(setImmediate)
    assert.equal(sessions.size, 0)
    assert.equal((await client.request('ping')).status, 404)
  })

  it('is of its key and bundle, and those behind it are nobody’s', async () => {
    const one = await startBundle(opened)
    const client = await one.session()
    const { service } = one
    const elsewhere = await service.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, client.headers, 'all')
    const { json } = await service.gateway.request('POST', '/api/keys', { name: 'other', scopes: ['mcp'] })
    const { key } = json as { key?: string }
    assert.ok(key !== undefined, JSON.stringify(json))
    const stolen = await service.post(
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { ...client.headers, authorization: `Bearer ${key}` },
      'work',
    )
    const behind = [...mcpOf(service.gateway.gateway).sessions].map(({ session }) => session.id)
    const direct = await service.post(
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { 'mcp-session-id': String(behind[0]) },
    )
    assert.deepEqual([elsewhere.status, stolen.status, direct.status], [404, 404, 404])
    assert.equal((await client.request('ping')).status, 200)
  })

  it('ends when it is idle, and not because one server is', async () => {
    const one = await startBundle(opened, {
      mcp: 'session_idle_seconds: 1000',
      two: { results: { 'tools/list': tools('b') } },
    })
    const client = await one.session()
    await client.request('tools/list')
    const mcp = mcpOf(one.service.gateway.gateway)
    for (const { session } of mcp.sessions) session.used -= 1_100_000
    mcp.sessions.sweep()
    assert.equal(mcp.sessions.size, 0)
    await sweep(one)
    assert.match((await client.call('two_b')).text, /"result"/, 'its session is opened again')
    assert.equal(one.two.calls('initialize').length, 2)
    for (const session of (await mcp.bundles()).sessions) session.used -= 1_100_000
    await sweep(one)
    assert.deepEqual([(await client.request('ping')).status, mcp.sessions.size], [404, 0])
  })

  it('has one stream for all servers, and takes it up again where each of them was', async () => {
    const one = await startBundle(opened)
    const [up, two] = [offerStream(one.up), offerStream(one.two)]
    const client = await one.session()
    const stream = await client.fetch('GET', undefined, { accept: 'text/event-stream' })
    while (up.after.length + two.after.length < 2) await new Promise(setImmediate)
    up.say('u-1')
    const heard = oneEvent(stream, 2)
    two.say('t/1')
    const events = await heard
    const ids = events.map(idOf)
    assert.deepEqual(events.map((event) => event.replace(/^id: .*$/m, 'id')).sort(), [
      `id\nretry: 5\ndata: ${up.said}`,
      `id\nretry: 5\ndata: ${two.said}`,
    ])
    const again = await client.fetch('GET', undefined, { accept: 'text/event-stream', 'last-event-id': String(ids[1]) })
    while (up.after.length + two.after.length < 4) await new Promise(setImmediate)
    assert.deepEqual([up.after[1], two.after[1]], ['u-1', 't/1'])
    await again.body?.cancel()
    const foreign = await client.fetch('GET', undefined, { accept: 'text/event-stream', 'last-event-id': 'u-1' })
    assert.equal(foreign.status, 400)
  })

  it('takes the stream of a call up again at its server', async () => {
    const one = await startBundle(opened)
    const stream = offerStream(one.two)
    const { answering } = one.two
    one.two.answering = (asked, response) => {
      if (asked.message?.method !== 'tools/call') return answering(asked, response)
      beginEvents(response).end('id: 41\nretry: 5\ndata: \n\n')
      return true
    }
    const client = await one.session()
    const call = await client.call('two_write_file')
    assert.match(call.text, /^id: r\.[\w-]+\nretry: 5\ndata: \n\n$/)
    const resumed = await client.fetch('GET', undefined, {
      accept: 'text/event-stream',
      'last-event-id': idOf(call.text),
    })
    assert.deepEqual(stream.after, ['41'])
    stream.say('42')
    assert.match((await oneEvent(resumed))[0] ?? '', /^id: r\./)
  })

  it('hears of a change of the policy that changes what is listed', async () => {
    const one = await startBundle(opened)
    const client = await one.session()
    await client.request('tools/list')
    await untilSaid(
      client,
      ({ method }) => method === 'notifications/tools/list_changed',
      () =>
        one.service.policy(
          'version: 1\ndefault: allow\nhide_denied_tools: true\nrules: [{ id: d, action: deny, tools: [write_file], servers: [two] }]\n',
        ),
    )
    assert.equal((await client.request('tools/list')).text.includes('two_write_file'), false)
  })
})
