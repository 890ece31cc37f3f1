import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TestServer } from '../../../../plugins/mcp/test-server/index.ts'
import { readMessage } from '../../../../plugins/mcp/test-server/message.ts'
import { TestSession } from '../../../../plugins/mcp/test-server/session.ts'

/** A session, and everything that it sends. */
const open = () => {
  const session = new TestSession(new TestServer())
  const sent: string[] = []
  const exchange = { send: (json: string) => void sent.push(json), release: () => {}, drop: () => {} }
  const take = (message: object): Promise<void> => {
    const read = readMessage(JSON.stringify({ jsonrpc: '2.0', ...message }))
    assert.ok(read)
    return session.take(read, exchange)
  }
  const call = (id: number, name: string, args: object = {}) =>
    take({ id, method: 'tools/call', params: { name, arguments: args, _meta: { progressToken: 7 } } })
  return { session, sent, take, call }
}

describe('a session of the MCP test server', { timeout: 60_000 }, () => {
  it('stops a call that is cancelled, and does not answer it', async () => {
    const { sent, take, call } = open()
    const slow = call(1, 'slow', { ms: 600_000 })
    await take({ method: 'notifications/cancelled', params: { requestId: 1 } })
    await slow
    assert.deepEqual(sent, [])
  })

  it('stops every call when it ends', async () => {
    const { session, sent, call } = open()
    const slow = call(1, 'slow', { ms: 600_000 })
    session.end()
    await slow
    assert.deepEqual(sent, [])
  })

  it('asks only clients that can be asked', async () => {
    const { sent, take, call } = open()
    await call(1, 'test_sampling', { prompt: 'x' })
    assert.match(sent.pop() ?? '', /does not have the capability sampling.*"isError":true/)
    await take({ id: 2, method: 'initialize', params: { capabilities: { sampling: {} } } })
    const asking = call(3, 'test_sampling', { prompt: 'x' })
    assert.match(sent.pop() ?? '', /"id":"ask-1","method":"sampling\/createMessage"/)
    await take({ id: 'ask-1', error: { code: -1, message: 'not today' } })
    await asking
    assert.match(sent.pop() ?? '', /not today.*"isError":true/)
  })

  it('logs from the level on that was set, and refuses others', async () => {
    const { sent, take, call } = open()
    await take({ id: 1, method: 'logging/setLevel', params: { level: 'warning' } })
    await call(2, 'test_tool_with_logging')
    assert.deepEqual(
      sent.filter((json) => json.includes('notifications/message')),
      [],
    )
    await take({ id: 3, method: 'logging/setLevel', params: { level: 'loud' } })
    assert.match(sent.pop() ?? '', /-32602/)
  })

  it('tells progress with the token of the call', async () => {
    const { sent, call } = open()
    await call(1, 'test_tool_with_progress')
    const progress = sent.flatMap((json) => /"progressToken":7,"progress":(\d+)/.exec(json)?.[1] ?? [])
    assert.deepEqual(progress, ['0', '50', '100'])
  })

  it('keeps files that were written, and forgets those that were deleted', async () => {
    const { sent, call } = open()
    await call(1, 'write_file', { path: 'a', content: 'b' })
    await call(2, 'read_file', { path: 'a' })
    await call(3, 'delete_file', { path: 'a' })
    await call(4, 'read_file', { path: 'a' })
    assert.match(sent[1] ?? '', /"text":"b"/)
    assert.match(sent[3] ?? '', /There is no file a\..*"isError":true/)
  })
})
