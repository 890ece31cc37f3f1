/** The ids that a recorded database holds. */
export const KEPT = {
  session: 'kept-session',
  trace: 'kept-trace',
  agent: 'kept-agent',
  requests: 3,
  key: 'guard_key_of_recorded_databases',
} as const

export type Ask = (
  method: string,
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }>

/** The policy of tool calls behind the configuration that records: writing waits for a person. */
export const POLICY = `version: 1
default: allow
rules:
  - { id: ask-first, tools: [write_file], action: confirm }
`

/** Chat request with the number of an attempt. */
export const chat = (attempt: number) => ({
  model: 'm-1',
  messages: [{ role: 'user', content: `Attempt ${attempt}` }],
})

/** Lets a gateway store a little of everything that every version has: calls, a run, an agent, a policy, a call that waits. */
export const makeHistory = async (ask: Ask): Promise<void> => {
  const done = async (...request: Parameters<Ask>): Promise<Headers> => {
    const { status, headers, text } = await ask(...request)
    if (status >= 300) throw new Error(`${request[0]} ${request[1]}: ${status} ${text}`)
    return headers
  }
  const rules = [{ rule_type: 'exact_repeat', threshold: 3 }]
  await done('PUT', '/api/policies/default', { mode: 'enforce', rules })
  await done('POST', '/api/agents', { id: KEPT.agent, name: 'Kept' })
  await done('POST', '/api/v1/traces', { trace_id: KEPT.trace, spans: [{ name: 'tool.call', type: 'tool_call' }] })
  for (let attempt = 0; attempt < KEPT.requests; attempt++)
    await done('POST', '/v1/chat/completions', chat(attempt), { 'x-guard-session-id': KEPT.session })
  const clientInfo = { name: 'recorder', version: '1' }
  const begin = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const accept = { accept: 'application/json, text/event-stream' }
  const message = (method: string, params: object) => ({ jsonrpc: '2.0', id: method, method, params })
  const opened = await done('POST', '/mcp/up', message('initialize', begin), accept)
  const session = { ...accept, 'mcp-session-id': opened.get('mcp-session-id') ?? '' }
  await done('POST', '/mcp/up', message('tools/list', {}), session)
  for (const name of ['read_file', 'write_file'])
    await done('POST', '/mcp/up', message('tools/call', { name, arguments: { path: 'notes.md' } }), session)
}
