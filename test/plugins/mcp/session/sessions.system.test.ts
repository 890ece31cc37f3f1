import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { openMcp } from 'guard-gateway/plugins/mcp'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { foundation } from 'guard-gateway/presets/foundation'
import { connectionsOf } from '../../../../plugins/mcp/connections.ts'
import { mcpOf } from '../../../../plugins/mcp/mcp.ts'
import { resultOf, startMcp } from '../../../kit/mcp.ts'
import { beginEvents } from '../../../kit/mcp-upstream.ts'

const CHILD = join(import.meta.dirname, '../../../kit/mcp-child.ts')
const flags = process.execArgv.filter((word) => word.startsWith('--conditions'))
const child = `child: { transport: stdio, command: "${process.execPath}", args: ${JSON.stringify([...flags, CHILD])}, env: { MINE: "1" } }`

describe('sessions', () => {
  it('end when nobody has used them for long, unless a stream is open', async () => {
    await using service = await startMcp({ mcp: 'session_idle_seconds: 1000' })
    const { sessions } = mcpOf(service.gateway.gateway)
    const [idle, busy] = [await service.session(), await service.session()]
    service.upstream.answering = ({ method }, response) => method === 'GET' && beginEvents(response).write(': on\n\n')
    const stream = await busy.fetch('GET')
    for (const { session } of sessions) session.used -= 900_000
    sessions.sweep()
    assert.equal(sessions.size, 2)
    for (const { session } of sessions) session.used -= 200_000
    sessions.sweep()
    assert.equal((await idle.request('ping')).status, 404)
    assert.equal((await busy.request('ping')).status, 200)
    await stream.body?.cancel()
  })

  it('are not in use by a call whose client has left, however long the server takes', async () => {
    // else the gateway waits for the server's answer when it stops
    const config = 'server: { shutdown_grace_seconds: 0 }'
    await using service = await startMcp({ servers: child, config })
    const client = await service.session({}, 'child')
    const { sessions } = mcpOf(service.gateway.gateway)
    const inUse = (streams: number) => [...sessions].every(({ session }) => session.streams === streams)
    const leaving = new AbortController()
    const { gateway } = service
    const call = fetch(`${gateway.url}/mcp/child`, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        ...client.headers,
        authorization: `Bearer ${gateway.key}`,
        accept: '*/*',
        'content-type': 'application/json',
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"x/silent"}',
    })
    while (!inUse(1)) await new Promise(setImmediate)
    leaving.abort()
    await assert.rejects(call)
    while (!inUse(0)) await new Promise(setImmediate)
  })

  it('tell when their server was heard last: by its answers', async () => {
    await using service = await startMcp()
    const seen = async () => {
      const { json } = await service.gateway.request('GET', '/api/v1/mcp/servers')
      return (json as { servers: { last_seen_at: string | null }[] }).servers[0]?.last_seen_at ?? null
    }
    assert.equal(await seen(), null)
    const client = await service.session()
    const state = mcpOf(service.gateway.gateway).serverState('up')
    assert.ok(state?.seen_at !== undefined)
    state.seen_at = 0
    assert.equal(await seen(), '1970-01-01T00:00:00.000Z')
    await client.request('ping')
    assert.ok(Date.parse((await seen()) ?? '') > 0)
  })

  it('end their open questions with them', async () => {
    await using service = await startMcp({ policy: 'version: 1\ndefault: confirm\nrules: []\n' })
    const client = await service.session()
    const { approval_id } = resultOf(await client.call('x')).structuredContent as { approval_id: string }
    await client.fetch('DELETE')
    await mcpOf(service.gateway.gateway).sessions.endAll('test')
    const { json } = await service.gateway.request('GET', `/api/v1/mcp/approvals/${approval_id}`)
    assert.deepEqual([(json as { status: string }).status], ['expired'])
  })

  it('have a child of their own each on the HTTP server, with an environment of few names', async () => {
    await using service = await startMcp({ servers: child })
    const [one, two] = [await service.session({}, 'child'), await service.session({}, 'child')]
    const env = resultOf(await one.request('x/env'))
    assert.deepEqual(
      [env.MINE, typeof env.PATH, env.npm_config_user_agent, env.NODE_OPTIONS],
      ['1', 'string', undefined, undefined],
    )
    const big = await two.post('{"jsonrpc":"2.0",\n"id":12345678901234567891,"method":"x/line"}')
    assert.match(big.text, /"id":12345678901234567891/)
    const asking = await one.fetch('POST', '{"jsonrpc":"2.0","id":"open","method":"x/ask"}')
    const exited = await one.request('x/exit', { code: 4 })
    assert.match(await asking.text(), /"id":"open","error":.*without an answer\. Upstream server exited \(code 4\)\./)
    assert.deepEqual(
      [exited.status, exited.json?.error?.code, exited.json?.error?.message],
      [502, -32603, 'Upstream server exited (code 4).'],
    )
    const { status, json } = await one.request('x/line')
    assert.deepEqual([status, json?.error?.data?.code], [404, 'MCP_SESSION_NOT_FOUND'])
    assert.equal((await two.request('x/line')).status, 200)
  })

  it('release a child that nobody uses, and start it again on the next request as if nothing had been', async () => {
    await using service = await startMcp({ servers: child, mcp: 'child_idle_seconds: 300' })
    const client = await service.session({}, 'child')
    await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    const { sessions } = mcpOf(service.gateway.gateway)
    const idle = (ms: number) => {
      for (const { session } of sessions) session.used -= ms
      sessions.sweep()
    }
    const pid = async () => Number(resultOf(await client.request('x/pid')).pid)
    const isAlive = (one: number) => {
      try {
        return process.kill(one, 0)
      } catch {
        return false
      }
    }
    const used = async () => {
      const answer = await fetch(`${service.gateway.url}/api/v1/mcp/servers`)
      const { servers } = (await answer.json()) as { servers: { id: string; sessions: number; processes: number }[] }
      const found = servers.find(({ id }) => id === 'child')
      return [found?.sessions, found?.processes]
    }
    const first = await pid()
    assert.deepEqual(await used(), [1, 1])
    idle(200_000)
    assert.equal(await pid(), first)
    const stream = await client.fetch('GET')
    idle(400_000)
    assert.equal(await pid(), first, 'a client that listens is there')
    await stream.body?.cancel()
    while ([...sessions].some(({ session }) => session.streams > 0)) await new Promise(setImmediate)
    idle(400_000)
    while (isAlive(first)) await new Promise(setImmediate)
    assert.equal(sessions.size, 1)
    assert.deepEqual(await used(), [1, 0])
    const [again, beside] = await Promise.all([pid(), pid()])
    assert.notEqual(again, first)
    assert.equal(beside, again)
    const seen = (await client.request('x/seen')).json?.result as unknown as unknown[]
    assert.deepEqual(seen.slice(0, 2), [0, 'notifications/initialized'])
    idle(400_000)
    while (isAlive(again)) await new Promise(setImmediate)
    await client.fetch('DELETE')
    assert.equal((await client.request('ping')).status, 404)
  })

  it('stream what a child says of a call, and keep the rest for GET', async () => {
    await using service = await startMcp({ servers: child })
    const client = await service.session({}, 'child')
    const response = await client.fetch(
      'POST',
      '{"jsonrpc":"2.0","id":1,"method":"x/progress","params":{"_meta":{"progressToken":"p"}}}',
    )
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    assert.equal(
      await response.text(),
      'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}\n\nevent: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
    )
    const stream = await client.fetch('GET')
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    assert.match((await reader?.read())?.value ?? '', /aside/)
    await reader?.cancel()
  })

  it('show a server that could not be reached as failing', async () => {
    await using service = await startMcp({ servers: 'gone: { transport: http, target: "http://127.0.0.1:9/mcp" }' })
    await assert.rejects(service.session({}, 'gone'), /UPSTREAM_UNREACHABLE/)
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/servers')
    const { servers } = json as { servers: { id: string; status: string; last_error: string | null }[] }
    assert.match(servers.find(({ id }) => id === 'gone')?.last_error ?? '', /could not be reached/)
    assert.deepEqual(servers.map(({ status }) => status).sort(), ['failing', 'unknown'])
  })
})

describe('openMcp', () => {
  it('opens a session without a door, judged by a policy of its own', async () => {
    await using service = await startMcp()
    const { gateway } = service.gateway
    const opened = await openMcp(gateway, { server_id: 'up', policy: { version: 1, default: 'deny', rules: [] } })
    assert.match(opened.session_id, /^mcp_/)
    const [initialized] = await opened.send(
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
    )
    assert.match(initialized ?? '', /"protocolVersion":"2025-11-25"/)
    assert.deepEqual(await opened.send('{"jsonrpc":"2.0","method":"notifications/initialized"}'), [])
    const [denied] = await opened.send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}')
    assert.match(denied ?? '', /Denied by rule 'default'/)
    await opened.end()
    await service.upstream.until('DELETE')
  })
})

describe('connections to servers', () => {
  const address = { secure: false, hostname: '127.0.0.1', port: 9, connect_ms: 1_000, idle_ms: 1_000 }

  it('are the same for all sessions of an address, and others for another one', () => {
    const connections = connectionsOf(new Gateway().use(...foundation(), undici))
    assert.equal(connections.to(address), connections.to({ ...address }))
    assert.notEqual(connections.to(address), connections.to({ ...address, port: 10 }))
    connections.close()
  })

  it('need a plugin that speaks HTTP', () => {
    assert.throws(() => connectionsOf(new Gateway().use(...foundation())).to(address), { code: 'MISSING_PLUGIN' })
  })
})
