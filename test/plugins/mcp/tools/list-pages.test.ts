import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { resultOf, startMcp } from '../../../kit/mcp.ts'
import { sendJson } from '../../../kit/mcp-upstream.ts'

describe('a page of a list that a client asks for out of turn', () => {
  for (const cursor of ['"3"', '3', '""', 'null'])
    it(`switches no schema off: ${cursor}`, async () => {
      await using service = await startMcp()
      const client = await service.session()
      await client.request('tools/list')
      service.upstream.answering = ({ message }, response) =>
        message?.method === 'tools/list' &&
        sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { tools: [] } }))
      await client.post(`{"jsonrpc":"2.0","id":"p","method":"tools/list","params":{"cursor":${cursor}}}`)
      assert.equal(resultOf(await client.call('read_file', { path: 7 })).isError, true)
      assert.equal(service.upstream.calls('tools/call').length, 0)
    })
})
