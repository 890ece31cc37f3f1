import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { stages } from 'guard-gateway/core'
import { answerOf, type McpService, startMcp } from '../../../kit/mcp.ts'
import { beginEvents } from '../../../kit/mcp-upstream.ts'

const call = (id: string) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'long', arguments: {} } })

/** Holds back the answer to the next call. */
const held = ({ upstream }: McpService): Promise<ServerResponse> =>
  new Promise((resolve) => {
    upstream.answering = ({ message }, response) => {
      if (message?.method !== 'tools/call') return false
      resolve(response)
      return true
    }
  })

/** How calls have ended, read when everything else is closed. */
const outcomes = ({ gateway: { gateway } }: McpService): Promise<readonly unknown[]> =>
  new Promise((resolve) => {
    gateway.hooks.close.tapPromise({ name: 'test', stage: stages.close.storage - 1 }, async () => {
      const { rows } = await gateway.storage.find('mcp_audit', { where: { kind: 'decision' } })
      resolve(rows.map(({ outcome }) => outcome))
    })
  })

describe('calls of a gateway that stops', { timeout: 60_000 }, () => {
  it('end as they would, and their ends are on record', async () => {
    await using service = await startMcp()
    const client = await service.session()
    const asked = held(service)
    const answering = client.fetch('POST', call('long'))
    const response = beginEvents(await asked)
    response.write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n')
    const ended = outcomes(service)
    const answer = await answering
    const closing = service.gateway.close()
    await assert.rejects(service.session(), /fetch failed|SHUTTING_DOWN/)
    assert.deepEqual(service.upstream.calls('tools/call').length, 1)
    assert.ok(!service.upstream.asked.some(({ method }) => method === 'DELETE'))
    response.end('data: {"jsonrpc":"2.0","id":"long","result":{"content":[]}}\n\n')
    assert.match(await answer.text(), /"id":"long","result":/)
    await closing
    assert.deepEqual(await ended, ['ok'])
    await service.upstream.until('DELETE')
  })

  it('are refused after the grace in words, and lost on record', async () => {
    await using service = await startMcp({ config: 'server: { shutdown_grace_seconds: 0 }' })
    const client = await service.session()
    const asked = held(service)
    const answering = client.fetch('POST', call('late'))
    await asked
    const ended = outcomes(service)
    await service.gateway.close()
    const { status, json } = await answerOf(await answering)
    assert.deepEqual([status, json?.id, json?.error?.code], [502, 'late', -32603])
    assert.equal(json?.error?.message, 'The session has ended.')
    assert.deepEqual(await ended, ['lost'])
  })
})
