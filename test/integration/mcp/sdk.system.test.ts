import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { httpServer, type ProxiedServer, runServer } from '../../kit/mcp-proxy.ts'
import { type SdkClient, sdkClient, sdkClients } from '../../kit/mcp-sdk.ts'

const POLICY = `
version: 1
default: allow
hide_denied_tools: true
rules:
  - { id: no-mail, tools: [send_email], action: deny }
  - { id: ask, tools: [write_file, typed_output], action: confirm }
`

const said = ({ content }: Awaited<ReturnType<SdkClient['call']>>): string => content.map(({ text }) => text).join()

/** What every client does at every server, one after the other in one session. */
const works = async (client: SdkClient, { allow, deny }: ProxiedServer): Promise<void> => {
  const tools = await client.list()
  assert.ok(tools.includes('typed_output') && !tools.includes('send_email'))
  assert.equal(said(await client.call('echo', { n: 1.5 })), '{"n":1.5}')
  const denied = await client.call('send_email', { to: 'a', subject: 'b', body: 'c' })
  assert.ok(denied.isError)
  assert.match(said(denied), /Denied by rule 'no-mail'/)
  assert.match(said(await client.call('read_file', { path: 3 })), /Invalid arguments for 'read_file'/)

  await client.call('test_tool_with_progress', {}, { onprogress: () => {} })
  assert.deepEqual(client.progress, [0, 50, 100])
  assert.equal(said(await client.call('test_sampling', { prompt: 'hello' })), 'LLM response: sampled')
  assert.match(said(await client.call('test_elicitation', { message: 'who?' })), /action=accept.*"username":"ann"/)

  const refused = { path: 'etc', content: 'b' }
  const asks = (await client.call('write_file', refused)).structuredContent
  await deny(String(asks?.approval_id), 'Write below out/ instead.')
  const answer = await client.call('write_file', refused)
  assert.ok(answer.isError)
  assert.equal(
    said(answer),
    `Denied by the user (${asks?.approval_id}): Write below out/ instead. Do not retry the same call.`,
  )

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

const suite = (door: string, open: (opened: AsyncDisposableStack, policy: string) => Promise<ProxiedServer>) => {
  for (const name of sdkClients) {
    it(`${name} over ${door}: list, call, confirm and retry, progress, sampling, elicitation, cancel, resume, end`, async () => {
      await using opened = new AsyncDisposableStack()
      const proxied = await open(opened, POLICY)
      const client = await sdkClient(name, proxied.way)
      try {
        await works(client, proxied)
      } finally {
        await client.close()
      }
    })
  }
}

describe('official clients through the proxy', { concurrency: 2, timeout: 300_000 }, () => {
  suite('HTTP', httpServer)
  suite('guard mcp run', runServer)
})
