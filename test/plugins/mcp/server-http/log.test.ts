import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { initialize, startMcp } from '../../../kit/mcp.ts'

interface Line {
  readonly method?: string
  readonly route?: string
  readonly status?: number
  readonly code?: string
  readonly duration_ms?: number
}

describe('the log', () => {
  it('has a line for each request of the transport and of exporters, too, refused ones with their code', async () => {
    await using service = await startMcp()
    const { gateway, upstream } = service
    const client = await service.session()
    await client.request('tools/list')
    assert.equal((await client.fetch('GET')).status, 405)
    await service.post(initialize(), { authorization: 'Bearer wrong' })
    await service.post(initialize(), {}, 'nowhere')
    await service.post('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    upstream.answering = (_asked, response) => response.writeHead(500).end() && true
    await client.request('ping')
    await gateway.request('POST', '/v1/traces', { resourceSpans: [] })
    await gateway.request('POST', '/v1/traces', 'x', { 'content-type': 'text/plain' })
    await gateway.close()
    const lines = gateway
      .logText()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
    assert.deepEqual(
      lines.map(({ method, route, status, code }) => [method, route, status, code]),
      [
        ['POST', '/mcp/:server_id', 200, undefined],
        ['POST', '/mcp/:server_id', 200, undefined],
        ['GET', '/mcp/:server_id', 405, undefined],
        ['POST', '/mcp/:server_id', 401, 'UNAUTHORIZED'],
        ['POST', '/mcp/:server_id', 404, 'MCP_SERVER_NOT_FOUND'],
        ['POST', '/mcp/:server_id', 400, 'SESSION_REQUIRED'],
        ['POST', '/mcp/:server_id', 502, undefined],
        ['POST', '/v1/traces', 200, undefined],
        ['POST', '/v1/traces', 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ],
    )
    assert.ok(lines.every(({ duration_ms = -1 }) => duration_ms >= 0))
  })
})
