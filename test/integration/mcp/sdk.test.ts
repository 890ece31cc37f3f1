import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { serveHttp, TestServer } from '../../../plugins/mcp/test-server/index.ts'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'
import { startMcp } from '../../kit/mcp.ts'
import { type SdkClient, type SdkName, type SdkWay, sdkClient, sdkClients } from '../../kit/mcp-sdk.ts'

const BIN = join(import.meta.dirname, '../../../presets/default/bin.ts')
const SERVER = join(import.meta.dirname, '../../kit/mcp-test-server.ts')
const POLICY = `
version: 1
default: allow
hide_denied_tools: true
rules:
  - { id: no-mail, tools: [send_email], action: deny }
  - { id: ask, tools: [write_file, typed_output], action: confirm }
`

/** A way to the test server through the proxy, and somebody who says yes. */
interface Place {
  readonly way: SdkWay
  allow(approval_id: string): Promise<void>
}

const overHttp = async (opened: AsyncDisposableStack): Promise<Place> => {
  const server = opened.adopt(await serveHttp(new TestServer({ page_size: 10 }), 0), (one) => one.close())
  const target = `test: { transport: http, target: "${server.url}" }`
  const { gateway } = opened.use(await startMcp({ policy: POLICY, servers: target }))
  return {
    way: { url: `${gateway.url}/mcp/test`, key: gateway.key },
    async allow(id) {
      const { status, text } = await gateway.request('POST', `/api/v1/mcp/approvals/${id}`, { action: 'allow' })
      assert.equal(status, 200, text)
    },
  }
}

const overRun = async (opened: AsyncDisposableStack): Promise<Place> => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-sdk-'))
  opened.defer(() => rm(cwd, { recursive: true, force: true }))
  await writeFile(join(cwd, 'policy.yml'), POLICY)
  // Nothing listens on port 1: the command line asks the database of the proxy.
  const config = 'gateway_key: guard_test_key_that_is_long_enough\nserver: { port: 1 }\n'
  await writeFile(join(cwd, 'guard-config.yml'), config, { mode: 0o600 })
  const node = process.execArgv.filter((word) => word.startsWith('--conditions'))
  const proxy = ['mcp', 'run', '--server-id', 'test', '--policy', 'policy.yml']
  return {
    way: { command: process.execPath, args: [...node, BIN, ...proxy, '--', process.execPath, ...node, SERVER], cwd },
    async allow(id) {
      const io = fakeIo({ cwd })
      assert.equal(await main(['mcp', 'approvals', 'allow', id], io), 0, io.errText())
    },
  }
}

const said = ({ content }: Awaited<ReturnType<SdkClient['call']>>): string => content.map(({ text }) => text).join()

/** What every client does at every server, one after the other in one session. */
const works = async (client: SdkClient, { allow }: Place): Promise<void> => {
  const tools = await client.list()
  assert.ok(tools.includes('typed_output') && !tools.includes('send_email'))
  assert.equal(said(await client.call('echo', { n: 1.5 })), '{"n":1.5}')
  const denied = await client.call('send_email', { to: 'a', subject: 'b', body: 'c' })
  assert.ok(denied.isError)
  assert.match(said(denied), /Denied by rule 'no-mail'/)
  assert.match(said(await client.call('read_file', { path: 3 })), /Invalid arguments for 'read_file'/)

  const progress: number[] = []
  await client.call('test_tool_with_progress', {}, { onprogress: (told) => void progress.push(told.progress) })
  // The last may come in one piece with the answer: the client of version 1 has stopped listening by then.
  assert.deepEqual(progress.slice(0, 2), [0, 50])
  assert.equal(said(await client.call('test_sampling', { prompt: 'hello' })), 'LLM response: sampled')
  assert.match(said(await client.call('test_elicitation', { message: 'who?' })), /action=accept.*"username":"ann"/)

  for (const [tool, args] of [
    ['write_file', { path: 'a', content: 'b' }],
    ['typed_output', { value: 21 }],
  ] as const) {
    const asked = await client.call(tool, args)
    assert.ok(asked.isError)
    assert.match(said(asked), /^Approval required/)
    const { approval_id, action } = asked.structuredContent ?? {}
    assert.equal(action, 'confirm')
    await allow(String(approval_id))
    const done = await client.call(tool, args)
    assert.equal(done.structuredContent?.approval_id, undefined)
    assert.match(said(done), /Wrote 1 bytes|"doubled":42/)
    assert.notEqual((await client.call(tool, args)).structuredContent?.approval_id, approval_id)
  }

  const cancel = new AbortController()
  const slow = client.call('slow', { ms: 60_000 }, { signal: cancel.signal })
  setImmediate(() => cancel.abort(new Error('enough')))
  await assert.rejects(slow, /enough|abort/i)
  assert.match(said(await client.call('test_reconnection')), /after the stream was closed/)
}

const suite = (door: string, open: (opened: AsyncDisposableStack) => Promise<Place>) => {
  for (const name of sdkClients satisfies readonly SdkName[]) {
    it(`${name} over ${door}: list, call, confirm and retry, progress, sampling, elicitation, cancel, resume, end`, async () => {
      await using opened = new AsyncDisposableStack()
      const place = await open(opened)
      const client = await sdkClient(name, place.way)
      try {
        await works(client, place)
      } finally {
        await client.close()
      }
    })
  }
}

describe('official clients through the proxy', { concurrency: 2, timeout: 60_000 }, () => {
  suite('HTTP', overHttp)
  suite('guard mcp run', overRun)
})
