import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loginService, REDIRECT, wordsOf } from './kit.ts'

describe('a login at an MCP server', () => {
  it('lets clients in from then on, with a token that was asked for this server and proven by PKCE', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    const address = new URL(await service.begin())
    const asked = Object.fromEntries(address.searchParams)
    assert.equal(address.origin + address.pathname, `${service.authorization.issuer}/auth`)
    assert.equal(asked.resource, service.server.url)
    assert.equal(asked.code_challenge_method, 'S256')
    assert.equal(asked.scope, 'tools:read offline_access')
    assert.match(asked.state ?? '', /^[\w-]{43}$/)

    const done = await service.logIn()
    assert.deepEqual([done.state, done.scopes], ['ok', ['tools:read']])
    const session = await service.session()
    assert.equal(await service.call(session), 'whoami ran')
    const token = await service.authorization.token(service.token)
    assert.equal(token?.aud, service.server.url)
  })

  it('tells clients before anybody has logged in, without a word to the server and without a challenge', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    const answer = await service.post('initialize', { protocolVersion: '2025-11-25', capabilities: {} })
    assert.equal(answer.status, 200)
    assert.equal(wordsOf(answer), 'The MCP server "docs" needs a login. Run: guard mcp login docs')
    assert.match(answer.text, /"code":"MCP_LOGIN_NEEDED"/)
    assert.equal(answer.headers.get('www-authenticate'), null)
    assert.deepEqual(service.server.shown, [])
    const { json } = await service.api('GET', '/login')
    assert.equal((json as { login: { state: string } }).login.state, 'needed')
    assert.match(
      (await service.gateway.request('GET', '/mcp')).text,
      /Nobody has logged in\. Run <code>guard mcp login docs</,
    )
    await service.logIn()
    assert.match((await service.gateway.request('GET', '/mcp')).text, /Logged in at http:\S+, renewed </)
  })

  it('ends here and at the authorization server, and tells whoever talks to the agent', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    await service.logIn()
    const session = await service.session()
    await service.call(session)
    const { token } = service
    const { json } = await service.api('POST', '/logout', {})
    assert.deepEqual(json, { ended: true, revoked: true })
    assert.equal(await service.authorization.token(token), undefined)
    const before = service.server.shown.length
    assert.equal(
      await service.call(session),
      'The MCP server "docs" needs a login. Run: guard mcp login docs. The tool was not called. Tell the user.',
    )
    assert.equal(service.server.shown.length, before)
    assert.deepEqual((await service.api('POST', '/logout', {})).json, { ended: false, revoked: false })
    const audit = await service.gateway.request('GET', '/api/v1/audit')
    const { entries } = audit.json as { entries: { action: string; subject: string }[] }
    const done = entries.map(({ action, subject }) => `${action} ${subject}`)
    assert.deepEqual(done.filter((one) => one.startsWith('mcp.log')).sort(), ['mcp.login docs', 'mcp.logout docs'])
  })

  it('is one of each agent, where the configuration says so', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened, { login: 'per: agent' })
    const keys: Record<string, string> = {}
    for (const id of ['ada', 'bob']) {
      await service.gateway.request('POST', '/api/agents', { id })
      const { json } = await service.gateway.request('POST', `/api/agents/${id}/keys`, {})
      keys[id] = JSON.stringify(json).match(/gak_[\w-]{43}/)?.[0] ?? ''
    }
    await assert.rejects(service.begin(), /a login for each agent: say which, with --agent/)
    await service.logIn({ agent_id: 'ada' })
    const session = await service.session({ authorization: `Bearer ${keys.ada}` })
    assert.equal(await service.call(session), 'whoami ran')
    await assert.rejects(
      service.session({ authorization: `Bearer ${keys.bob}` }),
      /needs a login. Run: guard mcp login docs --agent bob$/,
    )
    // who only says that it is Ada does not act as Ada
    await assert.rejects(service.session({ 'x-guard-agent-id': 'ada' }), /this session is of none/)
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/servers')
    const [{ logins = [] } = {}] = (json as { servers: { logins?: { agent_id: string; state: string }[] }[] }).servers
    assert.deepEqual(
      logins.map(({ agent_id, state }) => [agent_id, state]),
      [['ada', 'ok']],
    )
  })

  it('asks for more when the server wants more, and keeps what it had', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    await service.logIn()
    const session = await service.session()
    assert.equal(
      await service.call(session, 'write'),
      'The MCP server "docs" wants more rights than its login has (tools:read tools:write). Run: guard mcp login docs. The tool was not called. Tell the user.',
    )
    assert.equal(await service.call(session), 'whoami ran', 'what it was good for it still is')
    const { json } = await service.api('GET', '/login')
    const { login } = json as { login: { state: string; wanted: string[] } }
    assert.deepEqual([login.state, login.wanted], ['wants_more', ['tools:write']])

    assert.equal((await service.logIn()).state, 'ok')
    assert.equal(await service.call(session, 'write'), 'write ran')
    assert.deepEqual(service.server.ran, ['whoami', 'write'])
  })

  it('sends the browser back to nowhere but this machine, and takes each address once', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    for (const redirect_uri of [
      'https://evil.example/callback',
      'http://10.0.0.1/callback',
      'http://127.0.0.1:1/other',
    ])
      await assert.rejects(service.begin({ redirect_uri }), /The browser must come back to an address like http/)
    const { logInByForms } = await import('../../../kit/form-browser.ts')
    const came = await logInByForms(await service.begin(), REDIRECT)
    await assert.rejects(service.finish(came.replace(/state=[^&]+/, 'state=other')), /belongs to no login/)
    await assert.rejects(service.finish(came.replace('/callback', '/elsewhere')), /came to another address/)
    assert.equal((await service.finish(came)).state, 'ok')
    await assert.rejects(service.finish(came), /belongs to no login that was begun here/)
    await assert.rejects(service.finish('nonsense'), /This is no address/)
  })

  it('is refused in an answer of another authorization server, and waits no longer than 15 minutes', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened)
    const state = async () => new URL(await service.begin()).searchParams.get('state')
    const mixed = `${REDIRECT}?code=x&state=${await state()}&iss=https%3A%2F%2Fevil.example`
    await assert.rejects(service.finish(mixed), /unexpected "iss" \(issuer\) response parameter value/)
    await assert.rejects(service.finish(`${REDIRECT}?code=x&state=${await state()}`), /"iss" \(issuer\) missing/)
    assert.equal(service.authorization.count('/token'), 0)
    const issuer = encodeURIComponent(service.authorization.issuer)
    const denied = `${REDIRECT}?error=access_denied&error_description=No%1b[2J&state=${await state()}&iss=${issuer}`
    await assert.rejects(service.finish(denied), {
      message: 'The authorization server answered with the error access_denied (in its words: "No").',
    })
    const late = `${REDIRECT}?code=x&state=${await state()}`
    service.clock.advance(16 * 60_000)
    await assert.rejects(service.finish(late), /within the last 15 minutes/)
  })
})
