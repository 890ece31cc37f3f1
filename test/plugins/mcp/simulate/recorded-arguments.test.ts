import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SimulationView } from '../../../../plugins/mcp/simulate/routes.ts'
import { type McpService, startMcp } from '../../../kit/mcp.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })

/** A span of another program about a call of a tool, as OpenTelemetry exporters send it. */
const exported = async (service: McpService, spanId: string, call_id: string, args: object): Promise<void> => {
  const attributes = [
    attribute('gen_ai.operation.name', 'execute_tool'),
    attribute('gen_ai.tool.name', 'read_file'),
    attribute('gen_ai.tool.call.id', call_id),
    attribute('gen_ai.tool.call.arguments', JSON.stringify(args)),
  ]
  const times = { startTimeUnixNano: '1767225600000000000', endTimeUnixNano: '1767225601000000000' }
  const span = { traceId: TRACE, spanId, name: 'execute_tool read_file', kind: 1, ...times, attributes }
  const { status, text } = await service.gateway.request('POST', '/v1/traces', {
    resourceSpans: [{ scopeSpans: [{ spans: [span] }] }],
  })
  assert.equal(status, 200, text)
}

const POLICY = 'version: 1\ndefault: allow\nrules: []\n'
const OTHER =
  'version: 1\ndefault: allow\nrules:\n  - { id: r, tools: [read_file], action: allow, checks: [{ path: { args: [/path], inside: [.] } }] }\n'

describe('arguments in spans of the run of a call', () => {
  it('count as known where they have its hash, and as hidden where they are redacted', async () => {
    await using service = await startMcp({ policy: POLICY, storage: 'full_content_logging: true' })
    const client = await service.session()
    await client.request('tools/list')
    const call = (path: string, toolUseId: string, at: number) =>
      client.request('tools/call', {
        name: 'read_file',
        arguments: { path },
        _meta: { traceparent: `00-${TRACE}-b7ad6b716920333${at}-01`, toolUseId },
      })
    await exported(service, 'b7ad6b7169203331', 'call_1', { path: '../a' })
    await exported(service, 'b7ad6b7169203332', 'call_2', { path: 'other words' })
    await call('../a', 'call_1', 1)
    await call('b', 'call_2', 2)
    await call('c', 'call_3', 3)
    const { status, text } = await service.gateway.request('POST', '/api/v1/mcp/policies/simulate', { yaml: OTHER })
    assert.equal(status, 200)
    const view: SimulationView = JSON.parse(text)
    assert.deepEqual(
      view.changes.map(({ was, would_be, calls }) => [was, ...would_be, calls]),
      [['allow', 'deny', 1]],
    )
    assert.deepEqual([view.depends, view.unknown[0]?.redacted], [2, 1])
    const draft = await service.gateway.request('GET', '/api/v1/mcp/draft?server_id=up&format=yaml')
    assert.match(draft.text, /name: seen once, call: .* path: \.\.\/a .*, expect: deny/)
  })
})
