import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { derivedId } from '#lib/ids'
import { readJson } from '#lib/json'
import type { ApprovalView } from '../../../../plugins/mcp/management/approval-schemas.ts'
import type { AuditEventView } from '../../../../plugins/mcp/management/event-schemas.ts'
import { type McpClient, type McpService, resultOf, startMcp } from '../../../kit/mcp.ts'
import { sendJson } from '../../../kit/mcp-upstream.ts'

const CANARY = 'canary-51ce-of-an-ordinary-argument'
const POLICY = `version: 1
mode: enforce
default: confirm
rules:
  - { id: read, tools: [read_file], action: allow, checks: [{ path: { args: [/path], inside: [/srv] } }] }
  - { id: never, tools: [delete_file], action: deny }
  - { id: small, tools: [note], action: allow, checks: [{ size: { max_bytes: 64 } }] }
`

describe('the records of calls through the proxy', () => {
  let service: McpService
  let client: McpClient
  const api = (method: string, path: string, body?: unknown) =>
    service.gateway.request(method, `/api/v1/mcp${path}`, body)
  const events = async (query = ''): Promise<readonly AuditEventView[]> =>
    (readJson((await api('GET', `/events${query}`)).text) as { events: AuditEventView[] }).events
  const pending = async (): Promise<readonly ApprovalView[]> =>
    ((await api('GET', '/approvals?status=pending')).json as { approvals: ApprovalView[] }).approvals

  before(async () => {
    service = await startMcp({ policy: POLICY })
    client = await service.session({ 'x-guard-session-id': 'chat-7', 'x-guard-project-id': 'shop' })
    await client.request('tools/list')
  })
  after(() => service[Symbol.asyncDispose]())

  it('2.5, 3: a question is allowed over the API, and the retry goes through once', async () => {
    const asked = await client.call('write_file', { path: '/srv/a' })
    const { approval_id } = (asked.json?.result?.structuredContent ?? {}) as { readonly approval_id?: string }
    const [open] = await pending()
    assert.deepEqual([open?.id, open?.client?.name, open?.preview], [approval_id, 'test', '{"path":"/srv/a"}'])
    assert.equal((await api('POST', `/approvals/${approval_id}`, { action: 'allow', scope: 'once' })).status, 200)
    const forwarded = service.upstream.calls('tools/call').length
    assert.equal((await client.call('write_file', { path: '/srv/a' })).json?.result?.isError, undefined)
    assert.equal((await client.call('write_file', { path: '/srv/a' })).json?.result?.isError, true)
    assert.equal(service.upstream.calls('tools/call').length, forwarded + 1)
    const again = await api('POST', `/approvals/${approval_id}`, { action: 'allow' })
    assert.equal(again.status, 409)
    assert.match(again.text, /"APPROVAL_DECIDED".*"status":"consumed"/)
  })
  it('2.6: every decision is on record, with the run that shows it', async () => {
    await client.call('read_file', { path: '/srv/a' })
    await client.call('delete_file', {})
    await client.call('read_file', { path: 7 })
    const [invalid, denied, allowed] = await events('?kind=decision&limit=3')
    assert.deepEqual(
      [invalid?.action, invalid?.reason_code, invalid?.forwarded],
      ['invalid', 'MCP_INVALID_ARGUMENTS', false],
    )
    assert.deepEqual([denied?.action, denied?.rule_ids, denied?.outcome], ['deny', ['never'], 'none'])
    assert.deepEqual([allowed?.action, allowed?.tool, allowed?.mode], ['allow', 'read_file', 'enforce'])
    assert.match(allowed?.policy_version ?? '', /^[0-9a-f]{64}$/)
    const { text } = await service.gateway.request('GET', `/api/v1/runs/${denied?.trace_id}`)
    const { run, spans } = JSON.parse(text)
    assert.deepEqual([run.origin, run.project_id, run.failure_tag], ['mcp', 'shop', 'policy_block'])
    const span = spans.find(({ id }: { id: string }) => id === denied?.span_id)
    assert.deepEqual([span.name, span.status, span.events[0].name], ['tool.call', 'error', 'policy.decision'])
  })
  it('13: what makes no call, and a request whose id is in use, are refusals on record', async () => {
    await client.post({ jsonrpc: '2.0', id: 'nameless', method: 'tools/call', params: {} })
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    service.upstream.answering = async ({ message }) => {
      if (message?.id === 'twice') await released
      return false
    }
    const twice = { jsonrpc: '2.0', id: 'twice', method: 'x/slow' }
    const first = client.post(twice)
    await service.upstream.until('x/slow')
    assert.equal((await client.post(twice)).status, 400)
    release()
    assert.equal((await first).status, 200)
    assert.deepEqual(
      (await events('?kind=refusal')).map((one) => [one.name, one.request_id, one.action, one.forwarded]),
      [
        ['frame.refused', '"twice"', 'refused', false],
        ['call.refused', '"nameless"', 'refused', false],
      ],
    )
  })
  it('a call is in the run that its own traceparent names, before that of the connection', async () => {
    const [own, outer] = ['a'.repeat(32), 'b'.repeat(32)]
    const params = { name: 'read_file', arguments: { path: '/srv/x' } }
    const ask = (more: object) => ({
      jsonrpc: '2.0',
      id: 'trace',
      method: 'tools/call',
      params: { ...params, ...more },
    })
    const headers = { traceparent: `00-${outer}-${'2'.repeat(16)}-01` }
    await client.post(ask({ _meta: { traceparent: `00-${own}-${'1'.repeat(16)}-01` } }), headers)
    await client.post(ask({}), headers)
    assert.deepEqual(
      (await events('?kind=decision&limit=2')).map(({ trace_id }) => trace_id),
      [outer, own],
    )
  })
  it('a call has the id that its model gave it, as clients pass it on', async () => {
    const named = async (_meta: object) => {
      const trace_id = crypto.randomUUID().replaceAll('-', '')
      const params = { name: 'read_file', arguments: { path: '/srv/x' }, _meta }
      const call = { jsonrpc: '2.0', id: 'named', method: 'tools/call', params }
      await client.post(call, { traceparent: `00-${trace_id}-${'2'.repeat(16)}-01` })
      const { spans } = (await service.gateway.request('GET', `/api/v1/runs/${trace_id}`)).json as {
        readonly spans: readonly { readonly kind: string; readonly attributes: Readonly<Record<string, unknown>> }[]
      }
      return spans.find(({ kind }) => kind === 'tool')?.attributes['gen_ai.tool.call.id']
    }
    assert.equal(await named({ progressToken: 2, 'claudecode/toolUseId': 'toolu_1' }), 'toolu_1')
    assert.equal(await named({ callId: 'call_2' }), 'call_2')
    for (const odd of [{}, { callId: 7 }, { callId: '' }, { callId: 'x'.repeat(300) }])
      assert.equal(await named(odd), undefined)
  })
  it('a run that a call names bears session and agent of the call, unless somebody has said whose it is', async () => {
    const mine = await service.session({ 'x-guard-session-id': 'chat-8', 'x-guard-agent-id': 'a8' })
    const labels = async (trace_id: string) => {
      const { run } = (await service.gateway.request('GET', `/api/v1/runs/${trace_id}`)).json as {
        readonly run: { readonly session_id: string | null; readonly agent_id: string | null }
      }
      return [run.session_id, run.agent_id]
    }
    const [named, known] = ['c'.repeat(32), 'd'.repeat(32)]
    await service.gateway.request('POST', '/api/v1/traces', { trace_id: known, session_id: 'theirs' })
    for (const trace_id of [named, known])
      for (const path of ['/srv/x', '/srv/y']) {
        const _meta = { traceparent: `00-${trace_id}-${'1'.repeat(16)}-01` }
        await mine.request('tools/call', { name: 'read_file', arguments: { path }, _meta })
      }
    assert.deepEqual(await labels(named), [derivedId('ses_', 'default', 'chat-8'), 'a8'])
    assert.deepEqual(await labels(known), ['theirs', null])
  })
  it('a definition that changes between question and yes ends the question, also back to one that was listed before', async () => {
    const other = await service.session()
    const question = async () => {
      const asked = await other.call('write_file', { path: '/srv/c' })
      return (resultOf(asked).structuredContent as { readonly approval_id: string }).approval_id
    }
    const isVoid = async (id: string) => {
      const late = await api('POST', `/approvals/${id}`, { action: 'allow' })
      assert.equal(late.status, 409)
      assert.match(late.text, /"APPROVAL_EXPIRED".*tool_changed/)
    }
    await client.request('tools/list')
    const first = await question()
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'tools/list' &&
      sendJson(
        response,
        JSON.stringify({
          jsonrpc: '2.0',
          id: message.id,
          result: { tools: [{ name: 'write_file', description: 'another', inputSchema: { type: 'object' } }] },
        }),
      )
    await other.request('tools/list')
    await isVoid(first)
    const second = await question()
    service.upstream.answering = () => false
    await client.request('tools/list')
    await isVoid(second)
    await other.fetch('DELETE')
  })
  it('the end of the session ends its questions', async () => {
    const other = await service.session()
    await other.call('write_file', { path: '/srv/b' })
    const open = (await pending()).length
    await other.fetch('DELETE')
    while ((await pending()).length === open) await new Promise(setImmediate)
    const names = (await events('?limit=20')).map(({ name }) => name)
    assert.ok(names.includes('session.ended') && names.includes('approval.expired'))
  })
})

describe('arguments of calls through the proxy', () => {
  it('stand in no byte of the database, no export, list or log, whatever is decided', async () => {
    const service = await startMcp({ policy: POLICY, backend: 'sqlite' })
    const { gateway, folder } = service
    const client = await service.session()
    await client.request('tools/list')
    await client.call('read_file', { path: `/srv/${CANARY}` })
    await client.call('read_file', { path: `/etc/${CANARY}` })
    await client.call('read_file', { path: [CANARY] })
    await client.call('delete_file', { [CANARY]: CANARY })
    await client.call('note', { text: CANARY.repeat(9) })
    await client.post(`{"jsonrpc":"2.0","id":1,"id":2,"method":"${CANARY}"}`)
    for (const path of ['/events', '/export', '/export?format=jsonl', '/approvals', '/servers'])
      assert.equal((await gateway.request('GET', `/api/v1/mcp${path}`)).text.includes(CANARY), false, path)
    assert.equal(
      service.upstream.asked.some(({ raw }) => raw.includes(CANARY)),
      true,
    )
    await gateway.close()
    assert.equal(gateway.logText().includes(CANARY), false)
    const files = await readdir(folder)
    assert.ok(files.includes('guard.db'))
    for (const name of files)
      assert.equal(readFileSync(join(folder, name)).toString('latin1').includes(CANARY), false, name)
    await service.upstream.close()
    await rm(folder, { recursive: true, force: true })
  })
})
