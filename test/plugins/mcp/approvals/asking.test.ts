import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mcpHooks } from 'guard-gateway/plugins/mcp'
import { type McpAnswer, resultOf, startMcp } from '../../../kit/mcp.ts'

const POLICY = `
version: 1
default: allow
rules:
  - { id: ask, tools: [write_file], action: confirm, message: "Writes {arguments.path}" }
  - { id: safe, tools: [mail], action: transform, transform: { arguments: [ { remove: /bcc }, { set: { /dry: true } } ] } }
`
const textOf = ({ json }: McpAnswer): string =>
  (json?.result?.content as readonly { readonly text: string }[] | undefined)?.[0]?.text ?? ''

/** Holds calls up while they are judged: `judging` resolves when one is, `release` lets them continue. */
const heldUp = ({ gateway: { gateway } }: Awaited<ReturnType<typeof startMcp>>) => {
  const { promise: judging, resolve: begun } = Promise.withResolvers<void>()
  const { promise: go, resolve: release } = Promise.withResolvers<void>()
  mcpHooks(gateway).call.tapPromise('test', async () => {
    begun()
    await go
    return undefined
  })
  return { judging, release }
}

describe('calls that a rule asks a person about', () => {
  it('4.5: ask, and the retry of the same call passes once after a yes', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    const asked = await client.call('write_file', { path: 'a.txt' })
    const { approval_id, action } = resultOf(asked).structuredContent as { approval_id: string; action: string }
    assert.deepEqual([asked.status, asked.json?.result?.isError, action], [200, true, 'confirm'])
    assert.match(
      textOf(asked),
      new RegExp(`^Approval required \\(${approval_id}\\): write_file on "up"\\..* Writes a\\.txt$`),
    )
    const again = await client.call('write_file', { path: 'a.txt' })
    assert.equal((resultOf(again).structuredContent as { approval_id: string }).approval_id, approval_id)
    const yes = await service.gateway.request('POST', `/api/v1/mcp/approvals/${approval_id}`, {
      action: 'allow',
      scope: 'once',
    })
    assert.equal(yes.status, 200, yes.text)
    const other = await client.call('write_file', { path: 'b.txt' })
    assert.equal(other.json?.result?.isError, true)
    const [one, two] = await Promise.all([
      client.call('write_file', { path: 'a.txt' }),
      client.call('write_file', { path: 'a.txt' }),
    ])
    assert.deepEqual([one.json?.result?.isError === true, two.json?.result?.isError === true].sort(), [false, true])
    assert.equal(service.upstream.calls('tools/call').length, 1)
  })

  it('are judged by the names of their arguments as they are written, whatever came before', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    const messages: string[] = []
    for (const [id, name] of ['pat\\\\', 'pat\\u0068'].entries()) {
      const params = `{"name":"write_file","arguments":{"of_two_calls":1,"${name}":"a.txt"}}`
      const asked = await client.post(`{"jsonrpc":"2.0","id":${id + 10},"method":"tools/call","params":${params}}`)
      messages.push(textOf(asked))
    }
    assert.match(messages[0] ?? '', / Writes \(none\)$/)
    assert.match(messages[1] ?? '', / Writes a\.txt$/)
  })

  it('2.5: pass after a yes in another spelling of the same arguments, also where a rule transforms them', async () => {
    await using service = await startMcp({ policy: POLICY.replace('tools: [write_file]', 'tools: [mail]') })
    const client = await service.session()
    const asked = await client.call('mail', { to: 'a', n: 9 })
    const { approval_id } = resultOf(asked).structuredContent as { approval_id: string }
    await service.gateway.request('POST', `/api/v1/mcp/approvals/${approval_id}`, { action: 'allow' })
    const params = '{"name":"mail","arguments":{"n":9.0, "to":"\\u0061"}}'
    const retry = await client.post(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":${params}}`)
    assert.equal(retry.json?.result?.isError, undefined, retry.text)
  })

  it('show the approver every digit of an integer', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    const args = '{"path":12345678901234567891,"to":[9007199254740993]}'
    await client.post(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":${args}}}`,
    )
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/approvals')
    const [{ preview, message } = {}] = (json as { approvals: { preview?: string; message?: string }[] }).approvals
    assert.deepEqual([preview, message], [args, 'Writes 12345678901234567891'])
  })

  it('2.5: an approval is good for its session alone', async () => {
    await using service = await startMcp({ policy: POLICY })
    const [mine, others] = [await service.session(), await service.session()]
    const asked = await mine.call('write_file', { path: 'a' })
    const { approval_id } = resultOf(asked).structuredContent as { approval_id: string }
    await service.gateway.request('POST', `/api/v1/mcp/approvals/${approval_id}`, { action: 'allow', scope: 'once' })
    assert.equal((await others.call('write_file', { path: 'a' })).json?.result?.isError, true)
    assert.equal((await mine.call('write_file', { path: 'a' })).json?.result?.isError, undefined)
  })

  it('are answered as denied after a no', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    const asked = await client.call('write_file', { path: 'a' })
    const { approval_id } = resultOf(asked).structuredContent as { approval_id: string }
    await service.gateway.request('POST', `/api/v1/mcp/approvals/${approval_id}`, { action: 'deny' })
    assert.equal(
      textOf(await client.call('write_file', { path: 'a' })),
      `Denied by the user (${approval_id}). Do not retry.`,
    )
    assert.equal(service.upstream.calls('tools/call').length, 0)
  })

  it('that are cancelled while they are judged are not forwarded', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    const { judging, release } = heldUp(service)
    const call = client.post('{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"write_file"}}')
    await judging
    await client.post('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}')
    release()
    const { status, text } = await call
    assert.deepEqual([status, text], [202, ''])
    assert.equal(service.upstream.calls('notifications/cancelled').length, 0)
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/approvals')
    assert.deepEqual((json as { approvals: unknown[] }).approvals, [])
  })

  it('whose session ends while they are judged leave no question behind', async () => {
    await using service = await startMcp({ policy: POLICY })
    const client = await service.session()
    const { judging, release } = heldUp(service)
    const call = client.call('write_file', { path: 'a' })
    await judging
    await client.fetch('DELETE')
    release()
    await call
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/approvals')
    const { approvals } = json as { approvals: { status: string; reason: string }[] }
    assert.deepEqual(
      approvals.map(({ status, reason }) => [status, reason]),
      [['expired', 'session_ended']],
    )
  })
})
