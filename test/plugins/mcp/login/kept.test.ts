import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { mcpOf } from '../../../../plugins/mcp/mcp.ts'
import { startGateway } from '../../../kit/gateway.ts'
import { type LoginService, loginService } from './kit.ts'

/** All forms of a secret that somebody could find in files. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('hex'),
  ...[0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]).toString('base64')
    return text.slice(4, 4 * Math.floor((offset + secret.length) / 3) - 4)
  }),
]

const secretsOf = async (service: LoginService): Promise<readonly string[]> => {
  const mcp = mcpOf(service.gateway.gateway)
  const { LoginRows } = await import('../../../../plugins/mcp/login/login-rows.ts')
  const held = await new LoginRows(service.gateway.gateway, mcp.options).read({ server_id: 'docs', agent_id: '' })
  const { access_token = '', refresh_token = '' } = held?.tokens ?? {}
  assert.ok(access_token !== '' && refresh_token !== '')
  return [access_token, refresh_token]
}

describe('what is kept of a login', () => {
  it('is in no file, page, answer, export, figure or log', async () => {
    await using opened = new AsyncDisposableStack()
    const folder = opened.use(await mkdtempDisposable(join(tmpdir(), 'guard-kept-'))).path
    await writeFile(join(folder, 'policy.yml'), 'version: 1\ndefault: allow\nrules: []\n')
    const service = await loginService(opened, {
      start: { backend: 'sqlite', folder, storage: 'full_content_logging: true' },
    })
    await service.logIn()
    const session = await service.session()
    await service.call(session)
    const secrets = [...(await secretsOf(service))]
    service.clock.advance(3_600_000 - 30_000)
    await service.call(session)
    secrets.push(...(await secretsOf(service)))
    assert.equal(new Set(secrets).size, 4, 'those of the login, and those that replaced them')
    // a server that repeats what it was shown, and one that is gone
    service.server.answering = (request, response) => {
      response.writeHead(500, { 'x-echo': request.headers.authorization ?? '' }).end(request.headers.authorization)
      return true
    }
    await service.call(session)

    const texts: string[] = [service.gateway.logText()]
    const { json: runs } = await service.gateway.request('GET', '/api/v1/runs')
    const [{ trace_id = '' } = {}] = (runs as { runs: { trace_id: string }[] }).runs
    assert.notEqual(trace_id, '')
    for (const path of [
      ...[
        '/mcp',
        '/audit',
        '/notify',
        '/metrics',
        '/api/health',
        '/api/v1/mcp/servers',
        '/api/v1/mcp/servers/docs/login',
      ],
      ...['/api/v1/mcp/events', '/api/v1/mcp/export', '/api/v1/audit', `/replay/${trace_id}`, '/openapi.json'],
      `/api/v1/runs/${trace_id}/export?format=json`,
    ]) {
      const answer = await service.gateway.request('GET', path)
      assert.equal(answer.status, 200, path)
      texts.push(answer.text)
    }
    await service.gateway.close()
    for (const name of await readdir(folder)) texts.push(await readFile(join(folder, name), 'latin1'))
    const all = texts.join('\n')
    assert.match(all, /mcp_logins/, 'the database is among what is searched')
    for (const secret of secrets)
      for (const form of formsOf(secret))
        assert.ok(!all.includes(form), `${form.slice(0, 4)}… of ${form.length} characters`)
  })

  it('outlives the gateway with a key that only its user can read, and without that key it is worth nothing', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened, { start: { backend: 'sqlite' } })
    await service.logIn()
    const { folder } = service.gateway
    const key = join(folder, 'guard.db.login-key')
    assert.equal((await stat(key)).mode & 0o777, 0o600)
    const config = `mcp: { policy: policy.yml, servers: { docs: { target: "${service.server.url}", login: {} } } }`
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    }
    const again = async (more = ''): Promise<string> => {
      const gateway = await startGateway({
        folder,
        backend: 'sqlite',
        config: config.replace('mcp: {', `mcp: { ${more}`),
      })
      const accept = 'application/json, text/event-stream'
      const answer = await gateway.request('POST', '/mcp/docs', initialize, { accept })
      await gateway.close()
      return answer.text
    }
    await service.gateway.close()
    assert.match(await again(), /"name":"guarded"/)
    assert.match(await again(`login_key: "${Buffer.alloc(32, 7).toString('base64')}",`), /it was kept with another key/)
    await writeFile(key, 'no key')
    assert.match(await again(), /is none: it is 32 bytes in base64 or hex/)
  })
})
