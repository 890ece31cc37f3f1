import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { parseConfig } from 'guard-gateway/presets/default'
import { guardProgram, startChildGateway } from '../kit/child-gateway.ts'
import { fakeProvider } from '../kit/provider.ts'

describe('4.8 command-line operations', () => {
  it('gateway run starts the gateway, which serves until it is told to stop', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-cli-'))
    await using provider = await fakeProvider()
    try {
      const { url, key, end } = await startChildGateway(folder, provider.url)
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: 'hi' }] }),
      })
      assert.deepEqual([answer.status, answer.headers.get('x-guard-decision')], [200, 'allow'])
      await answer.text()
      assert.deepEqual(await end('SIGTERM'), [0, null])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
  it('lists its operations with --help', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...guardProgram, '--help'])
    assert.match(stdout, /gateway run/)
  })
  it('the default listen address is loopback, port 8787', async () => {
    const { host, port } = (await parseConfig('gateway_key: guard_0123456789abcdef', 'guard-config.yml', {})).config
      .server
    assert.deepEqual([host, port], ['127.0.0.1', 8787])
  })
})
