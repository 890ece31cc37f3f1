import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { serveHttp, TestServer } from '../../../plugins/mcp/test-server/index.ts'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'
import { type McpService, startMcp } from '../../kit/mcp.ts'
import { runServer, testServerChild } from '../../kit/mcp-proxy.ts'
import { sendJson } from '../../kit/mcp-upstream.ts'

const allow = (rules: string): string => `version: 1\ndefault: allow\nrules: [${rules}]\n`

const start = async (opened: AsyncDisposableStack): Promise<McpService> => {
  const server = opened.adopt(await serveHttp(new TestServer(), 0), (one) => one.close())
  const servers = { http: { transport: 'http', target: server.url }, stdio: testServerChild() }
  return opened.use(await startMcp({ policy: allow(''), servers: JSON.stringify(servers).slice(1, -1) }))
}

describe('a policy that is swapped in the middle of a call', { timeout: 60_000 }, () => {
  it('lets the call end as it began, and judges the next', async () => {
    await using opened = new AsyncDisposableStack()
    const service = opened.use(await startMcp({ policy: allow('') }))
    const client = await service.session()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    service.upstream.answering = async ({ message }, response) => {
      if (message?.params?.name !== 'slow') return false
      await released
      return sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { content: [] } }))
    }
    const begun = client.call('slow')
    await service.upstream.until('tools/call')
    await service.policy(allow('{ id: stop, tools: [slow], action: deny }'))
    assert.match((await client.call('slow')).text, /Denied by rule 'stop'/)
    release()
    assert.deepEqual((await begun).json?.result, { content: [] })
  })
})

describe('a large answer to a client that reads slowly', { timeout: 60_000 }, () => {
  for (const door of ['http', 'stdio']) {
    it(`arrives whole, over ${door}`, async () => {
      await using opened = new AsyncDisposableStack()
      const service = await start(opened)
      const client = await service.session({}, door)
      const response = await client.fetch(
        'POST',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{"bytes":8000000}}}',
      )
      let length = 0
      for await (const chunk of response.body ?? []) {
        length += chunk.length
        await new Promise(setImmediate)
      }
      assert.ok(length > 8_000_000, String(length))
      assert.match((await client.call('echo', { a: 1 })).text, /"a\\":1/)
    })
  }
})

describe('a proxy that is killed between a call and its answer', { timeout: 60_000 }, () => {
  it('has its use of an approval on record: nobody can use it again', async () => {
    await using opened = new AsyncDisposableStack()
    const proxied = await runServer(opened, allow('{ id: ask, tools: [test_elicitation], action: confirm }'))
    const { way, folder } = proxied
    assert.ok('command' in way)
    const child = spawn(way.command, [...way.args], {
      cwd: folder,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: folder },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const ask = async (message: object): Promise<string> => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
      return String((await lines.next()).value)
    }
    const call = { method: 'tools/call', params: { name: 'test_elicitation', arguments: { message: 'who?' } } }
    const clientInfo = { name: 't', version: '1' }
    const capabilities = { elicitation: {} }
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo }
    await ask({ id: 1, method: 'initialize', params })
    const [id = ''] = /apr_[a-z0-9]{26}/.exec(await ask({ id: 2, ...call })) ?? []
    await proxied.allow(id)
    // The server asks back, so the call has reached it; its answer waits for ours.
    assert.match(await ask({ id: 3, ...call }), /elicitation\/create/)
    child.kill('SIGKILL')
    await once(child, 'exit')

    const io = fakeIo({ cwd: folder })
    assert.equal(await main(['mcp', 'approvals', 'list', '--json'], io), 0, io.errText())
    const { approvals } = JSON.parse(io.outText()) as { approvals: { id: string; status: string }[] }
    assert.deepEqual(
      approvals.map((one) => [one.id, one.status]),
      [[id, 'consumed']],
    )
    const again = fakeIo({ cwd: folder })
    assert.equal(await main(['mcp', 'approvals', 'allow', id], again), 1)
    assert.match(again.errText(), /consumed|APPROVAL_DECIDED/)
    const audit = fakeIo({ cwd: folder })
    assert.equal(await main(['mcp', 'export', '--format', 'json'], audit), 0, audit.errText())
    const { events } = JSON.parse(audit.outText()) as { events: Record<string, unknown>[] }
    const forwarded = events.filter((one) => one.kind === 'decision' && one.forwarded === true)
    assert.deepEqual(
      forwarded.map(({ tool, approval_id }) => [tool, approval_id]),
      [['test_elicitation', id]],
    )
  })
})
