import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { authorizationServer } from '../../../kit/authorization-server.ts'
import { fakeClock } from '../../../kit/clock.ts'
import { logInByForms } from '../../../kit/form-browser.ts'
import { startGateway } from '../../../kit/gateway.ts'
import { toolServer } from '../../../kit/guarded-mcp-server.ts'
import { sdkClient } from '../../../kit/mcp-sdk.ts'
import { sseMcpServer } from '../../../kit/sse-mcp-server.ts'

const REDIRECT = 'http://127.0.0.1:49999/callback'

describe('a login at a server of HTTP+SSE', () => {
  it('lets the official clients in, and is renewed while their sessions go on', async () => {
    for (const transport of ['http', 'sse']) {
      await using opened = new AsyncDisposableStack()
      const ran: string[] = []
      const authorization = opened.use(await authorizationServer())
      const server = opened.use(await sseMcpServer(() => toolServer(ran), authorization))
      const { path: folder } = opened.use(await mkdtempDisposable(join(tmpdir(), 'guard-older-')))
      await writeFile(join(folder, 'policy.yml'), 'version: 1\ndefault: allow\nrules: []\n')
      const clock = fakeClock(Date.now())
      const config = `mcp: { policy: policy.yml, servers: { old: { transport: ${transport}, target: "${server.url}", login: {} } } }`
      const gateway = await startGateway({ config, folder, clock })
      opened.defer(() => gateway.close())
      const way = { url: `${gateway.url}/mcp/old`, key: gateway.key }
      await assert.rejects(sdkClient('v1', way), /needs a login\. Run: guard mcp login old/)

      const begun = await gateway.request('POST', '/api/v1/mcp/servers/old/login', { redirect_uri: REDIRECT })
      const { authorization_url } = begun.json as { authorization_url: string }
      const redirected = await logInByForms(authorization_url, REDIRECT)
      const done = await gateway.request('POST', '/api/v1/mcp/servers/old/login/finish', { redirected })
      assert.equal(done.status, 200, done.text)

      const client = await sdkClient('v1', way)
      assert.deepEqual(await client.list(), ['whoami', 'write'])
      const first = server.shown.at(-1)
      clock.advance(3_600_000 - 30_000)
      const { content } = await client.call('whoami')
      assert.equal(content[0]?.text, 'whoami ran')
      assert.notEqual(server.shown.at(-1), first)
      server.cut()
      assert.equal((await client.call('whoami')).content[0]?.text, 'whoami ran')
      assert.deepEqual(ran, ['whoami', 'whoami'])
      await client.close()
    }
  })
})
