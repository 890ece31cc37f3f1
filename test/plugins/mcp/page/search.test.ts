import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type McpService, startMcp } from '../../../kit/mcp.ts'
import { asking, POLICY, page } from './kit.ts'

const target = async (service: McpService, text: string): Promise<string> => {
  const answer = await fetch(`${service.gateway.url}/search?q=${encodeURIComponent(text)}`, {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  })
  assert.equal(answer.status, 303, `${text}: ${await answer.text()}`)
  return answer.headers.get('location') ?? ''
}

test('the search finds approvals, calls, sessions, servers and tools', async () => {
  await using service = await startMcp({ policy: POLICY })
  const client = await service.session()
  const approval = await asking(client, { path: 'a' })
  const { storage } = service.gateway.gateway
  const [call] = (await storage.find('mcp_audit', { where: { tool: 'write_file' }, limit: 1 })).rows
  assert.ok(call?.trace_id && call.span_id && call.session_id)
  const span = `/replay/${call.trace_id}?span=${call.span_id}#span-${call.span_id}`
  assert.equal(await target(service, approval), `/approvals/${approval}`)
  assert.equal(await target(service, call.id), span)
  assert.equal(await target(service, call.id.replace('aud_', 'guardreq_')), span)
  assert.equal(await target(service, 'write_file'), '/mcp?tool=write_file#decisions')
  assert.equal(await target(service, call.session_id), `/mcp?session_id=${call.session_id}#decisions`)
  assert.equal(await target(service, call.server_id ?? ''), `/mcp#server-${call.server_id}`)
  assert.match(await page(service, `/mcp?session_id=${call.session_id}`), new RegExp(`id="audit-${call.id}"`))
})
