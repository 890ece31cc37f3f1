import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TestProxy } from '../../../kit/proxy.ts'
import { loginService, REDIRECT } from './kit.ts'

const SECRET = 'a-secret-of-the-client-that-is-long'

const registered = (more: object = {}) => ({
  client_id: 'guard',
  client_secret: SECRET,
  redirect_uris: [REDIRECT],
  grant_types: ['authorization_code', 'refresh_token'],
  ...more,
})

describe('the client of a login', () => {
  it('is the configured one, which shows its secret as the authorization server wants it', async () => {
    for (const method of ['client_secret_basic', 'client_secret_post']) {
      await using opened = new AsyncDisposableStack()
      const service = await loginService(opened, {
        login: (issuer) =>
          `issuer: "${issuer}", client_id: guard, client_secret: ${SECRET}, redirect_uri: "${REDIRECT}"`,
        clients: [registered({ token_endpoint_auth_method: method })],
        configuration: { clientAuthMethods: [method] },
        registration: false,
      })
      assert.equal((await service.logIn()).state, 'ok')
      const session = await service.session()
      service.clock.advance(3_600_000 - 30_000)
      assert.equal(await service.call(session), 'whoami ran')
      assert.equal((await service.authorization.token(service.token))?.clientId, 'guard')
      assert.equal(service.authorization.count('/reg'), 0)
      const { text } = await service.gateway.request('GET', '/api/v1/mcp/servers')
      assert.ok(!text.includes(SECRET))
    }
  })

  it('is a document that the authorization server reads, where it does', async () => {
    await using opened = new AsyncDisposableStack()
    const url = 'https://client.example/guard.json'
    const document = {
      client_id: url,
      client_name: 'Guard',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }
    const service = await loginService(opened, {
      login: `client_metadata_url: "${url}"`,
      features: { clientIdMetadataDocument: { enabled: true, ack: 'draft-02', allowFetch: () => true } },
      configuration: { fetch: async () => Response.json(document) },
    })
    assert.equal(new URL(await service.begin()).searchParams.get('client_id'), url)
    assert.equal((await service.logIn()).state, 'ok')
    const session = await service.session()
    assert.equal(await service.call(session), 'whoami ran')
    assert.equal(service.authorization.count('/reg'), 0)
  })

  it('registers itself, and not again while it comes back to the same address', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened, { login: 'client_metadata_url: "https://client.example/guard.json"' })
    await service.logIn()
    await service.logIn()
    assert.equal(service.authorization.count('/reg'), 1)
    const { json } = await service.api('GET', '/login')
    assert.equal((json as { redirect_uri: string }).redirect_uri, REDIRECT)
    await service.begin({ redirect_uri: 'http://127.0.0.1:49998/callback' })
    assert.equal(service.authorization.count('/reg'), 2)
  })

  it('goes by the proxy that leads to the server', async () => {
    await using opened = new AsyncDisposableStack()
    const proxy = opened.use(await new TestProxy().listen())
    const service = await loginService(opened, { more: `proxy: "${proxy.url()}"` })
    assert.equal((await service.logIn()).state, 'ok')
    const { issuer } = service.authorization
    for (const line of [`GET ${issuer}/.well-known/`, `POST ${issuer}/reg `, `POST ${issuer}/token `])
      assert.ok(
        proxy.lines.some((one) => one.startsWith(line)),
        `${line}: ${proxy.lines.join('; ')}`,
      )
    assert.equal(await service.call(await service.session()), 'whoami ran')
  })

  it('must be configured where nothing else is possible, which is said', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened, { registration: false })
    await assert.rejects(
      service.begin(),
      /registers no clients by itself\. Register one there by hand, with the redirect address http:\/\/127\.0\.0\.1:49999\/callback, and set login\.client_id\.$/,
    )
  })

  it('asks for the configured scopes alone, at the configured authorization server', async () => {
    await using opened = new AsyncDisposableStack()
    const service = await loginService(opened, { login: 'scopes: ["tools:read"]' })
    assert.equal(new URL(await service.begin()).searchParams.get('scope'), 'tools:read')
    await service.logIn()
    const session = await service.session()
    assert.match(await service.call(session, 'write'), /Add them to mcp\.servers\.docs\.login\.scopes first/)
    // without a refresh token the login ends with its token
    service.clock.advance(3_600_001)
    assert.match(await service.call(session), /has ended: its token is good no more, and nothing renews it/)

    await using other = new AsyncDisposableStack()
    const elsewhere = await loginService(other, { login: 'issuer: "https://auth.example"' })
    await assert.rejects(
      elsewhere.begin(),
      /does not name the authorization server "https:\/\/auth\.example" of login\.issuer, but "http/,
    )
  })
})
