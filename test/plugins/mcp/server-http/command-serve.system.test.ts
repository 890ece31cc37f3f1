import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { guardProgram } from '../../../kit/child-gateway.ts'
import { initialize } from '../../../kit/mcp.ts'
import { mcpUpstream } from '../../../kit/mcp-upstream.ts'

const KEY = 'guard_test_key_that_is_long_enough'

describe('guard mcp serve', () => {
  it('4.8: serves MCP servers named on the command line, and no model routes', { timeout: 60_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-serve-'))
    await writeFile(join(folder, 'guard-config.yml'), `gateway_key: ${KEY}\n`, { mode: 0o600 })
    await writeFile(join(folder, 'policy.yml'), 'version: 1\ndefault: deny\nrules: []\n')
    const upstream = await mcpUpstream()
    const words = ['mcp', 'serve', '--port', '0', '--policy', 'policy.yml', '--server', `up=${upstream.url}`, '--json']
    const child = spawn(process.execPath, [...guardProgram, ...words], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [Buffer | number]
    assert.ok(typeof line !== 'number', `it ended with ${line}`)
    const { url } = JSON.parse(line.toString()) as { url: string }
    const post = (path: string, message: unknown, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${KEY}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify(message),
      })
    const opened = await post('/mcp/up', initialize())
    assert.equal(opened.status, 200)
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } }
    assert.match(await (await post('/mcp/up', call, session)).text(), /Denied by rule 'default'/)
    assert.equal((await post('/v1/messages', {})).status, 404)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
    await upstream.until('DELETE')
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  })
})
