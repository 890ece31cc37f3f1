import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { type McpClient, type McpService, startMcp } from '../../../kit/mcp.ts'
import { testServerChild } from '../../../kit/mcp-proxy.ts'
import { beginEvents } from '../../../kit/mcp-upstream.ts'

describe('streams that are only listened to', { timeout: 60_000 }, () => {
  let service: McpService
  before(async () => {
    service = await startMcp({ servers: `child: ${JSON.stringify(testServerChild())}` })
  })
  after(() => service[Symbol.asyncDispose]())
  afterEach(() => {
    service.upstream.answering = () => false
  })

  /** Listens; a server that has one stream takes it up as soon as it has seen the client before leave. */
  const listening = async (client: McpClient) => {
    for (;;) {
      const stream = await client.fetch('GET')
      if (stream.status === 200) return stream.body?.pipeThrough(new TextDecoderStream()).getReader()
      await stream.body?.cancel()
    }
  }
  const SAID = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}'

  it('end with their client, at a server with one stream too', async () => {
    let open = 0
    service.upstream.answering = ({ method }, response) => {
      if (method !== 'GET') return false
      if (open > 0) response.writeHead(409).end()
      else {
        open++
        response.once('close', () => open--)
        beginEvents(response).write(`data: ${SAID}\n\n`)
      }
      return true
    }
    const client = await service.session()
    await (await listening(client))?.cancel()
    const again = await listening(client)
    assert.equal((await again?.read())?.value, `data: ${SAID}\n\n`)
    await again?.cancel()
  })

  it('end with their client at a child process: who listens next gets what comes from then on', async () => {
    const client = await service.session({}, 'child')
    await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await (await listening(client))?.cancel()
    const again = await listening(client)
    await client.call('test_tool_with_logging')
    assert.match((await again?.read())?.value ?? '', /notifications\/message/)
    await again?.cancel()
  })
})
