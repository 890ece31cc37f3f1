import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { main } from '../../../../presets/default/main.ts'
import { fakeIo } from '../../../kit/io.ts'

const lines = (...messages: readonly object[]): string =>
  messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')

/** Sends all of a client's messages at once and collects what comes back, by id. */
const overStdio = async (flags: readonly string[], input: string) => {
  const io = fakeIo()
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const code = main(['mcp', 'test-server', '--transport', 'stdio', ...flags], {
    ...io,
    in: stdin,
    out: stdout,
  })
  stdin.end(input)
  void code.then(() => stdout.end())
  return { said: await text(stdout), code: await code, err: io.errText() }
}

describe('guard mcp test-server', () => {
  it('4.8: speaks over stdio, one message a line, without a configuration', async () => {
    const { said, code } = await overStdio([], lines({ id: 1, method: 'ping' }, { id: 'b', method: 'no/such' }))
    assert.equal(code, 0)
    assert.equal(
      said,
      '{"jsonrpc":"2.0","id":1,"result":{}}\n' +
        '{"jsonrpc":"2.0","id":"b","error":{"code":-32601,"message":"There is no method no/such."}}\n',
    )
  })

  it('has pages of the size that is wanted', async () => {
    const { said } = await overStdio(['--page-size', '3'], lines({ id: 1, method: 'tools/list' }))
    const { result } = JSON.parse(said) as { result: { tools: unknown[]; nextCursor: string } }
    assert.deepEqual([result.tools.length, result.nextCursor], [3, '3'])
  })

  it('ends with 1 where it is told to go away in the middle of a call', async () => {
    const call = lines({ id: 1, method: 'tools/call', params: { name: 'echo' } })
    const { said, code } = await overStdio(['--misbehave', 'drop'], call)
    assert.deepEqual([said, code], ['', 1])
  })

  it('4.8: listens where the system lets it, says where, and ends on SIGTERM', async () => {
    const io = fakeIo()
    const code = main(['mcp', 'test-server', '--port', '0'], io)
    await io.errHolds('/mcp\n')
    const [url = ''] = /http:\S+/.exec(io.errText()) ?? []
    const second = fakeIo()
    assert.notEqual(await main(['mcp', 'test-server', '--port', new URL(url).port], second), 0)
    assert.match(second.errText(), /is taken\. Choose another port/)
    const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'text/plain' } })
    assert.equal(response.status, 415)
    process.emit('SIGTERM', 'SIGTERM')
    assert.equal(await code, 0)
    await assert.rejects(fetch(url))
  })

  it('refuses flags that it does not have with 2, and names what there is', async () => {
    for (const [flags, said] of [
      [['--transport', 'ipc'], /--transport is http or stdio/],
      [['--port', '70000'], /--port is a whole number from 0 to 65535/],
      [['--page-size', '0'], /--page-size is a whole number/],
      [['--misbehave', 'nicely'], /noise, late-tool, endless-cursor, duplicate-json, drop/],
    ] as const) {
      const io = fakeIo()
      assert.equal(await main(['mcp', 'test-server', ...flags], io), 2)
      assert.match(io.errText(), said)
    }
  })
})
