import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type McpService, startMcp } from '../../../kit/mcp.ts'
import { sendJson } from '../../../kit/mcp-upstream.ts'

const POLICY = `version: 1
default: deny
rules:
  - { id: shell, tools: [run], action: allow, checks: [{ shell: { args: [/command], allow: [git status] } }] }
  - { id: web, tools: [fetch], action: allow, checks: [{ http: { args: [/url], hosts: [api.example.com] } }] }
  - { id: sql, tools: [query], action: allow, checks: [{ sql: { args: [/sql], operations: [select] } }] }
  - { id: pg, tools: [ask_pg], action: allow, checks: [{ sql: { args: [/sql], dialect: postgres, operations: [select] } }] }
  - { id: path, tools: ["read_*"], action: allow, checks: [{ path: { args: ["/files/*"], inside: [.] } }] }
  - { id: only, tools: [open], action: allow, only: [path], on_violation: confirm }
  - { id: size, tools: [put], action: allow, checks: [{ size: { args: ["/*"], max_bytes: 3 } }] }
`

/** Calls that say this word where a reason or its place may repeat it, and how each is refused. */
const calls = (word: string): readonly (readonly [tool: string, args: object, recorded: RegExp])[] => [
  ['run', { command: `${word} --all` }, /^\/command runs "…", which is not allowed$/],
  ['run', { command: 'curl x' }, /^\/command runs curl, which is not allowed$/],
  ['run', { command: `git status $${word}` }, /uses the variable "…"/],
  ['run', { command: [`./${word}`] }, /runs "…"/],
  ['fetch', { url: `https://${word}.evil.example/` }, /goes to "…", which is no allowed host/],
  ['fetch', { url: `${word}://api.example.com/` }, /has the scheme "…"/],
  ['query', { sql: `select ${word}(1)` }, /calls "…", which may have side effects/],
  ['query', { sql: `select 1 /*! ${word} */` }, /holds the comment "…" at character/],
  ['ask_pg', { sql: `select 1 form ${word}` }, /accepts: "…"$/],
  ['read_all', { files: { [word]: '/etc/passwd' } }, /^\/files\/… /],
  ['open', { path: 'a', [word]: 1 }, /^\/… is no argument that may be given; there is path$/],
  ['put', { [word]: 'long enough' }, /^\/… is 13 bytes long, 3 allowed$/],
  [`do ${word} now`, {}, /^no rule matches this call of "…"$/],
]

interface Recorded {
  readonly reason: string
  readonly findings: readonly { readonly pointer: string; readonly reason: string }[]
}

const decisions = async ({ gateway }: McpService): Promise<readonly Recorded[]> => {
  const { json } = await gateway.request('GET', '/api/v1/mcp/events?limit=1&kind=decision')
  return (json as { readonly events: readonly Recorded[] }).events
}

describe('what the caller of a tool chooses', () => {
  it('is told to the client, and stands in no record', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    const word = 'canaryzebra'
    for (const [tool, args, expected] of calls(word)) {
      const { text } = await client.call(tool, args)
      if (tool !== 'open' && !text.includes('curl')) assert.match(text, new RegExp(word, 'i'), tool)
      const [latest] = await decisions(service)
      assert.match(latest?.reason ?? '', expected, tool)
      assert.doesNotMatch(JSON.stringify(latest), new RegExp(word, 'i'), tool)
    }
    const waiting = await service.gateway.request('GET', '/api/v1/mcp/approvals')
    const [approval] = (waiting.json as { readonly approvals: readonly Recorded[] }).approvals
    assert.equal(approval?.findings[0]?.pointer, '/…')
    const runs = await service.gateway.request('GET', '/api/v1/runs?limit=10')
    assert.doesNotMatch(runs.text, new RegExp(word, 'i'))
  })
  it('is on record where content is kept', async () => {
    await using service = await startMcp({ policy: POLICY, storage: 'full_content_logging: true' })
    await (await service.session()).call('put', { canaryzebra: 'long enough' })
    assert.match((await decisions(service))[0]?.reason ?? '', /^\/canaryzebra is/)
  })
  it('is shown where the tool or the policy says it', async () => {
    await using service = await startMcp({ policy: POLICY })
    const { upstream } = service
    const put = { name: 'put', inputSchema: { type: 'object', properties: { note: {} } } }
    upstream.answering = ({ message }, response) =>
      message?.method === 'tools/list' &&
      sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { tools: [put] } }))
    const client = await service.session()
    await client.request('tools/list')
    await client.call('put', { note: 'long enough' })
    assert.match((await decisions(service))[0]?.reason ?? '', /^\/note is/)
    await client.call('run', { command: 'git' })
    assert.match((await decisions(service))[0]?.reason ?? '', /runs git,/)
  })
})
