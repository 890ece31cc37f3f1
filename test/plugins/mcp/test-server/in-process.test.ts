import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openMcp } from 'guard-gateway/plugins/mcp'
import type { McpServer } from '#lib/mcp-transport'
import { inProcess } from '../../../../plugins/mcp/test-server/in-process.ts'
import { eventsIn, mcpTransportConforms, transportFrame, transportSession } from '../../../conformance/mcp-transport.ts'
import { startMcp } from '../../../kit/mcp.ts'

const server: McpServer = {
  id: 'playground',
  name: 'playground',
  transport: 'playground',
  headers: {},
  timeout_ms: 30_000,
  args: [],
  env: {},
}

mcpTransportConforms(inProcess, async () => ({ server, close: async () => {} }))

describe('the test server inside this process', () => {
  it('is a new one for each session', async () => {
    const call = (id: number, name: string, args: object) =>
      transportFrame(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }))
    const ask = async (frame: ReturnType<typeof call>, link: Awaited<ReturnType<typeof inProcess.open>>) =>
      (await eventsIn(await link.post(frame))).at(-1)?.frame?.text
    const one = await inProcess.open(server, transportSession())
    const other = await inProcess.open(server, transportSession())
    await ask(call(1, 'write_file', { path: 'mine.txt', content: 'x' }), one)
    assert.match((await ask(call(2, 'read_file', { path: 'mine.txt' }), one)) ?? '', /"text":"x"/)
    assert.match((await ask(call(2, 'read_file', { path: 'mine.txt' }), other)) ?? '', /There is no file/)
    await one.end()
    await other.end()
  })

  it('asks its client on the way of a call', async () => {
    const link = await inProcess.open(server, transportSession())
    const capabilities = { capabilities: { elicitation: {} }, protocolVersion: '2025-11-25' }
    await eventsIn(
      await link.post(
        transportFrame(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: capabilities })),
      ),
    )
    const reply = await link.post(
      transportFrame(
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_elicitation","arguments":{"message":"Name?"}}}',
      ),
    )
    assert.equal(reply.form, 'sse')
    const methods: (string | undefined)[] = []
    for await (const { frame } of reply.form === 'sse' ? reply.events : []) {
      methods.push(frame?.method)
      if (frame?.kind === 'request')
        await link.post(
          transportFrame(
            `{"jsonrpc":"2.0","id":"${frame.key?.slice(1)}","result":{"action":"accept","content":{"response":"Ann"}}}`,
          ),
        )
    }
    assert.deepEqual(methods, ['elicitation/create', undefined])
    await link.end()
  })
})

describe('openMcp at a transport', () => {
  const policy = { version: 1, default: 'confirm', rules: [] }
  const initialize =
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
  const call =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"README.md"}}}'
  const approvalIn = (answer: string | undefined) => /apr_[0-9a-z]+/.exec(answer ?? '')?.[0] ?? ''

  it('decides the questions of its own session, and of no other', async () => {
    await using service = await startMcp()
    const { gateway } = service.gateway
    const open = () => openMcp(gateway, { server_id: 'inside', transport: 'playground', policy })
    const [one, other] = [await open(), await open()]
    for (const session of [one, other]) await session.send(initialize)
    const [asked] = await one.send(call)
    const id = approvalIn(asked)
    await assert.rejects(other.decide(id, { action: 'allow', scope: 'once' }), { code: 'APPROVAL_NOT_FOUND' })
    assert.equal(await one.decide(id, { action: 'allow', scope: 'once' }), 'allowed')
    await assert.rejects(one.decide(id, { action: 'deny' }), { code: 'APPROVAL_DECIDED' })
    assert.match((await one.send(call))[0] ?? '', /# Test server/)
    const [again] = await one.send(call)
    assert.equal(await one.decide(approvalIn(again), { action: 'deny' }), 'denied')
    await one.end()
    await other.end()
  })

  it('takes no server of the configuration for another one of the same name', async () => {
    await using service = await startMcp()
    const opening = openMcp(service.gateway.gateway, { server_id: 'up', transport: 'playground', policy })
    await assert.rejects(opening, { code: 'DUPLICATE', message: /has an MCP server "up", which is reached by "http"/ })
  })
})
