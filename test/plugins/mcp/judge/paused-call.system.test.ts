import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { derivedId } from '#lib/ids'
import { newSessionRow } from '#lib/session'
import { startGateway } from '../../../kit/gateway.ts'
import { startMcp } from '../../../kit/mcp.ts'
import { mcpRun } from '../../../kit/mcp-run.ts'

const ID = derivedId('ses_', 'px', 'mine')
const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}'

/** A session of project `px` that its client calls `mine`, as model requests start it. */
const beginSession = ({ storage, clock }: Gateway) =>
  storage.put(
    'sessions',
    newSessionRow(ID, {
      ...{ project_id: 'px', agent_id: null, external_id: 'mine', external_source: 'x-guard-session-id' },
      ...{ client: 'test', at: clock.now() },
    }),
  )

describe('tool calls of what is paused', () => {
  it('3: are refused like model requests, by agent, whatever the mode; what only reads passes', async () => {
    await using service = await startMcp({ policy: 'version: 1\nmode: shadow\ndefault: allow\nrules: []\n' })
    const { gateway, upstream } = service
    const { key } = (await gateway.request('POST', '/api/agents', { id: 'pa', project_id: 'px' })).json as {
      key: string
    }
    const byKey = await service.session({ authorization: `Bearer ${key}` })
    const byHeader = await service.session({ 'x-guard-agent-id': 'pa' })
    await gateway.request('POST', '/api/agents/pa/pause')
    for (const client of [byKey, byHeader]) {
      const { status, headers, json } = await client.call('read_file', { path: 'a' })
      assert.deepEqual([status, headers.get('x-should-retry')], [409, 'false'])
      assert.deepEqual(
        [json?.id, json?.error?.code, json?.error?.data],
        [1, -32000, { type: 'mcp_error', code: 'PAUSED_AGENT' }],
      )
      assert.match(json?.error?.message ?? '', /its agent is paused. Resume it with POST \/api\/agents\/pa\/resume\./)
      assert.equal((await client.request('tools/list')).status, 200)
    }
    assert.equal(upstream.calls('tools/call').length, 0)
    const { events } = (await gateway.request('GET', '/api/v1/mcp/events?kind=decision')).json as {
      events: Record<string, unknown>[]
    }
    const told = { tool: 'read_file', project_id: 'px', agent_id: 'pa', action: 'refused', forwarded: false }
    for (const event of events) {
      const { tool, project_id, agent_id, action, forwarded, reason_code } = event
      assert.deepEqual(
        { tool, project_id, agent_id, action, forwarded, reason_code },
        { ...told, reason_code: 'PAUSED_AGENT' },
      )
    }
    assert.equal(events.length, 2)
    await gateway.request('POST', '/api/agents/pa/resume')
    assert.equal((await byKey.call('read_file', { path: 'a' })).status, 200)
  })

  it('3: are refused by session, also by an agent of its project', async () => {
    await using service = await startMcp()
    const { gateway } = service
    await beginSession(gateway.gateway)
    await gateway.request('POST', '/api/agents', { id: 'pa', project_id: 'px' })
    const inside = await service.session({ 'x-guard-agent-id': 'pa', 'x-guard-session-id': 'mine' })
    const elsewhere = await service.session({ 'x-guard-session-id': 'mine' })
    await gateway.request('POST', `/api/sessions/${ID}/pause`)
    const { status, json } = await inside.call('write_file')
    assert.deepEqual([status, json?.error?.data?.code], [409, 'PAUSED_SESSION'])
    assert.equal((await elsewhere.call('write_file')).status, 200)
    await gateway.request('POST', `/api/sessions/${ID}/resume`)
    assert.equal((await inside.call('write_file')).status, 200)
  })

  it('3: are refused in another process as soon as the gateway says so', async () => {
    const run = await mcpRun({
      config: 'storage: { backend: sqlite, file: guard.db }',
      flags: ['--project', 'px', '--session', 'mine'],
    })
    const ask = async (message: string) => {
      run.send(message)
      return JSON.parse(await run.next())
    }
    // the database is made by then
    await ask(INITIALIZE)
    const gateway = await startGateway({ backend: 'sqlite', folder: run.folder })
    try {
      assert.ok('result' in (await ask(CALL)))
      await beginSession(gateway.gateway)
      assert.ok('result' in (await ask(CALL)))
      await gateway.request('POST', `/api/sessions/${ID}/pause`)
      assert.equal((await ask(CALL)).error.data.code, 'PAUSED_SESSION')
      await gateway.request('POST', `/api/sessions/${ID}/resume`)
      assert.ok('result' in (await ask(CALL)))
    } finally {
      await gateway.close()
      await run.close()
    }
  })
})
