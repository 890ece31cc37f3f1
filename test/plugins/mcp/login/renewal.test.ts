import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Logins } from '../../../../plugins/mcp/login/index.ts'
import { mcpOf } from '../../../../plugins/mcp/mcp.ts'
import { type LoginService, loginService } from './kit.ts'

const HOUR_MS = 3_600_000

const stateOf = async (service: LoginService) => {
  const { json } = await service.api('GET', '/login')
  return (json as { login: { state: string; reason: string | null } }).login
}

describe('the tokens of a login', () => {
  it('are renewed before they expire, once for all calls of that moment', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    await service.logIn()
    const session = await service.session()
    const first = service.token
    service.clock.advance(HOUR_MS - 30_000)
    const calls = await Promise.all(Array.from({ length: 5 }, () => service.call(session)))
    assert.deepEqual(new Set(calls), new Set(['whoami ran']))
    assert.equal(service.authorization.count('/token'), 2, 'the login itself, and one renewal')
    assert.equal(new Set(service.server.shown.slice(-5)).size, 1)
    assert.notEqual(service.token, first)
    // with the refresh token that the renewal has brought
    service.clock.advance(HOUR_MS - 30_000)
    assert.equal(await service.call(session), 'whoami ran')
    assert.equal(service.authorization.count('/token'), 3)
  })

  it('are renewed when the server refuses one, and the call is sent once more: it has run once', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    await service.logIn()
    const session = await service.session()
    await service.authorization.revokeAccess(service.token)
    service.clock.advance(60_000)
    const before = service.server.shown.length
    assert.equal(await service.call(session), 'whoami ran')
    assert.deepEqual(service.server.ran, ['whoami'])
    assert.equal(service.server.shown.length - before, 2, 'refused, and let in')
    assert.equal(service.authorization.count('/token'), 2)
  })

  it('end with the grant, which is said; nobody is asked again after that', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    await service.logIn()
    const session = await service.session()
    await service.authorization.revokeGrant(service.token)
    service.clock.advance(60_000)
    const told = await service.call(session)
    assert.match(
      told,
      /^The login at the MCP server "docs" has ended: the authorization server answered with the error invalid_grant/,
    )
    assert.match(told, /Run: guard mcp login docs\. The tool was not called/)
    const asked = service.authorization.count('/token')
    const shown = service.server.shown.length
    assert.match(await service.call(session), /has ended/)
    assert.deepEqual([service.authorization.count('/token'), service.server.shown.length], [asked, shown])
    assert.equal((await stateOf(service)).state, 'ended')
    assert.equal((await service.logIn()).state, 'ok')
    assert.equal(await service.call(session), 'whoami ran')
  })

  it('end where the server refuses even a new one: no storm of renewals', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    await service.logIn()
    const session = await service.session()
    service.server.answering = (_request, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end()
      return true
    }
    service.clock.advance(60_000)
    for (let call = 0; call < 3; call++)
      assert.match(await service.call(session), /has ended: the server refuses a token that was only just issued/)
    assert.equal(service.authorization.count('/token'), 2)
    assert.deepEqual(service.server.ran, [])
  })

  it('serve to their end while the authorization server is away, and then the client is told to try again', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    await service.logIn()
    const session = await service.session()
    service.authorization.answering = (_request, response) => {
      response.writeHead(503).end()
      return true
    }
    service.clock.advance(HOUR_MS - 30_000)
    assert.equal(await service.call(session), 'whoami ran')
    service.clock.advance(60_000)
    const away = await service.post('tools/call', { name: 'whoami', arguments: {} }, session)
    assert.equal(away.status, 502)
    assert.match(away.text, /could not be renewed: .* Nothing was sent to the server; try again\./)
    assert.equal((await stateOf(service)).state, 'ok')
    service.authorization.answering = () => false
    assert.equal(await service.call(session), 'whoami ran')
  })

  it('are renewed by one of the processes that share them; the others take what it brought', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened, { start: { backend: 'sqlite' } })
    await service.logIn()
    await service.session()
    const mcp = mcpOf(service.gateway.gateway)
    const server = mcp.serverState('docs')?.server
    assert.ok(server)
    service.clock.advance(HOUR_MS - 30_000)
    const processes = [0, 1, 2].map(() => new Logins(mcp.gateway, mcp.options).loginOf(server, null))
    const shown = await Promise.all(processes.map((login) => login.credential()))
    assert.equal(new Set(shown).size, 1)
    assert.match(String(shown[0]), /^Bearer \S+$/)
    assert.equal(service.authorization.count('/token'), 2)
  })

  it('are shown to no other address than the one they were issued for', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened, { start: { backend: 'memory' } })
    await service.logIn()
    const mcp = mcpOf(service.gateway.gateway)
    const server = mcp.serverState('docs')?.server
    assert.ok(server)
    const moved = { ...server, target: 'http://127.0.0.1:1/mcp' }
    const other = await new Logins(mcp.gateway, mcp.options).loginOf(moved, null).credential()
    // in memory each has a key of its own, so the first thing said is that it cannot be read
    assert.match(JSON.stringify(other), /it was kept with another key/)
    const same = await (await mcp.logins()).loginOf(moved, null).credential()
    assert.match(JSON.stringify(same), /it was for another address of the server/)
  })
})
