import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { serveHttp, TestServer } from '../../../plugins/mcp/test-server/index.ts'
import { guardProgram } from '../../kit/child-gateway.ts'
import { startMcp } from '../../kit/mcp.ts'
import { testServerChild } from '../../kit/mcp-proxy.ts'
import { type SdkName, type SdkWay, sdkClient, sdkClients } from '../../kit/mcp-sdk.ts'

/** What users of both servers do. */
const use = async (name: SdkName, way: SdkWay): Promise<void> => {
  const client = await sdkClient(name, way)
  try {
    const listed = await client.list()
    assert.ok(
      ['web_echo', 'child_echo'].every((tool) => listed.includes(tool)),
      String(listed),
    )
    for (const server of ['web', 'child']) {
      assert.match(String((await client.call(`${server}_echo`, { text: server })).content[0]?.text), new RegExp(server))
      assert.match(String((await client.call(`${server}_test_sampling`, { prompt: 'x' })).content[0]?.text), /sampled/)
      const asked = await client.call(`${server}_test_elicitation`, { message: 'Who?' })
      assert.match(String(asked.content[0]?.text), /ann/)
    }
    const leave = new AbortController()
    const slow = client.call('child_slow', { ms: 60_000 }, { signal: leave.signal })
    leave.abort()
    await assert.rejects(slow)
    await client.call('web_test_tool_with_progress', {}, { onprogress: () => {} })
    assert.deepEqual(client.progress, [0, 50, 100])
  } finally {
    await client.close()
  }
}

describe('official clients of a bundle', () => {
  const opened = new AsyncDisposableStack()
  after(() => opened.disposeAsync())

  it('use a server over HTTP and a program as one, page by page', async () => {
    const server = opened.adopt(await serveHttp(new TestServer({ page_size: 7 }), 0), (one) => one.close())
    const { gateway } = opened.use(
      await startMcp({
        mcp: 'bundles: { work: { servers: { web: {}, child: {} } } }',
        servers: `web: { transport: http, target: "${server.url}" }, child: ${JSON.stringify(testServerChild())}`,
      }),
    )
    for (const name of sdkClients) await use(name, { url: `${gateway.url}/mcp/work`, key: gateway.key })
  })

  it('do the same on standard input and output', async () => {
    const server = opened.adopt(await serveHttp(new TestServer(), 0), (one) => one.close())
    const cwd = await mkdtemp(join(tmpdir(), 'guard-bundle-'))
    opened.defer(() => rm(cwd, { recursive: true, force: true }))
    const servers = { web: { transport: 'http', target: server.url }, child: testServerChild() }
    await writeFile(join(cwd, 'policy.yml'), 'version: 1\ndefault: allow\nrules: []\n')
    const config = { gateway_key: 'guard_test_key_that_is_long_enough', mcp: { policy: 'policy.yml', servers } }
    await writeFile(join(cwd, 'guard-config.yml'), JSON.stringify(config), { mode: 0o600 })
    const args = [...guardProgram, 'mcp', 'run', '--bundle', 'all']
    await use('v1', { command: process.execPath, args, cwd })
  })
})
