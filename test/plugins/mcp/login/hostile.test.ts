import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { mcpOf } from '../../../../plugins/mcp/mcp.ts'
import { type LoginService, loginService } from './kit.ts'

const json = (response: ServerResponse, body: unknown, status = 200): true => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  return true
}

describe('metadata of a server behind a login', () => {
  const opened = new AsyncDisposableStack()
  let service: LoginService
  before(async () => {
    service = await loginService(opened)
  })
  after(() => opened.disposeAsync())

  /** The server challenges with this, and gives these metadata by path. */
  const says = (challenge: string, metadata: Readonly<Record<string, unknown>>) => {
    service.server.answering = (request, response) => {
      const found = metadata[request.url ?? '']
      if (found !== undefined) return json(response, found)
      if (request.url?.startsWith('/.well-known/')) return json(response, {}, 404)
      response.writeHead(401, { 'www-authenticate': challenge }).end()
      return true
    }
  }
  const own = () => ({ resource: service.server.url, authorization_servers: [service.authorization.issuer] })
  const origin = () => new URL(service.server.url).origin
  const PATH = '/.well-known/oauth-protected-resource/mcp'
  const ROOT = '/.well-known/oauth-protected-resource'
  const refused = (message: RegExp) => assert.rejects(service.begin(), { message })

  it('is found where the challenge says, below the path, or at the root, in this order', async () => {
    says(`Bearer realm="x", resource_metadata="${origin()}/elsewhere"`, { '/elsewhere': own(), [PATH]: {}, [ROOT]: {} })
    assert.ok(await service.begin())
    says('Bearer', { [PATH]: own(), [ROOT]: {} })
    assert.ok(await service.begin())
    says('Basic realm="x", Bearer scope="a b"', { [ROOT]: { ...own(), resource: origin(), scopes_supported: ['c'] } })
    const asked = new URL(await service.begin()).searchParams
    assert.deepEqual([asked.get('resource'), asked.get('scope')], [origin(), 'a b offline_access'])
  })

  it('may be missing: a server of 2025-03-26 is its own authorization server', async () => {
    const { issuer } = service.authorization
    const server = {
      issuer: origin(),
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/reg`,
      code_challenge_methods_supported: ['S256'],
    }
    says('Bearer', { '/.well-known/oauth-authorization-server': server })
    const asked = new URL(await service.begin()).searchParams
    assert.deepEqual([asked.get('resource'), asked.get('scope')], [service.server.url, null])
    says('Bearer', {})
    await refused(/has no metadata at \/\.well-known\/oauth-authorization-server, \/\.well-known\/openid-configuration/)
    says('Bearer resource_metadata="/relative"', {})
    await refused(/The address of the resource metadata is no address/)
  })

  it('is refused where it is of another server', async () => {
    for (const resource of [
      'https://evil.example/mcp',
      `${origin()}/mcp2`,
      `${origin()}/mc`,
      `${service.server.url}?x=1`,
      service.server.url.replace('127.0.0.1', 'localhost'),
      'javascript:alert(1)',
      42,
    ]) {
      says('Bearer', { [PATH]: { ...own(), resource } })
      await refused(/^The resource metadata are those of .* and not of the MCP server at "http/)
    }
    says('Bearer', { [PATH]: { resource: service.server.url } })
    await refused(/name no authorization server\. Name it as login\.issuer/)
    says('Bearer', { [PATH]: [] })
    await refused(/gave no JSON object/)
    says('Bearer', { [PATH]: { ...own(), more: 'x'.repeat(70_000) } })
    await refused(/gave no JSON object, or more than 64 KiB/)
  })

  it('leads to no address without encryption, and to none with characters that shells read', async () => {
    for (const [address, message] of [
      ['http://evil.example/', /is not reached by https: nothing is sent there/],
      ['file:///etc/passwd', /is not reached by https/],
      ['javascript:alert(1)', /is not reached by https/],
      ['https://user:secret@evil.example/', /holds a user, a password or a fragment/],
      ['https://evil.example/$(calc)', /holds characters that no such address needs/],
      ['https://evil.example/`id`', /holds characters that no such address needs/],
      ['https://evil.example/\u001b[2J', /holds characters/],
      ['no address', /is no address/],
    ] as const) {
      says(`Bearer resource_metadata="${address.replace(/[^ -~]/g, '')}"`, {})
      if (/^[ -~]+$/.test(address)) await refused(message)
      says('Bearer', { [PATH]: { ...own(), authorization_servers: [address] } })
      await refused(message)
    }
  })

  it('is followed to no other place: redirects are refused', async () => {
    service.server.answering = (request, response) => {
      if (request.url === '/mcp') response.writeHead(401).end()
      else
        response.writeHead(302, { location: `${service.authorization.issuer}/.well-known/openid-configuration` }).end()
      return true
    }
    const before = service.authorization.requests.length
    await refused(/answered 302 and points elsewhere\. Redirects are not followed/)
    assert.equal(service.authorization.requests.length, before)
  })
})

describe('metadata of an authorization server', () => {
  const opened = new AsyncDisposableStack()
  let service: LoginService
  before(async () => {
    service = await loginService(opened)
  })
  after(() => opened.disposeAsync())
  const refused = async (changes: Readonly<Record<string, unknown>>, message: RegExp) => {
    service.authorization.metadata = (known) => ({ ...known, ...changes })
    const answer = await service.api('POST', '/login', { redirect_uri: 'http://127.0.0.1:1/callback' })
    assert.equal(answer.status, 502)
    assert.match(answer.text, /MCP_LOGIN_FAILED/)
    assert.match((answer.json as { error: { message: string } }).error.message, message)
  }

  it('is refused with another issuer, without PKCE, and with endpoints that nobody may be sent to', async () => {
    await refused(
      { issuer: 'https://evil.example' },
      /are those of the issuer "https:\/\/evil\.example" and not of "http/,
    )
    await refused({ issuer: undefined }, /are those of the issuer nothing/)
    for (const methods of [undefined, [], ['plain'], 'S256'])
      await refused({ code_challenge_methods_supported: methods }, /does not list S256/)
    await refused({ response_types_supported: ['token'] }, /gives no authorization codes/)
    for (const name of ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint'])
      for (const address of ['javascript:alert(1)', 'file:///bin/sh', 'http://evil.example/', 'https://x/$(id)', 7])
        await refused({ [name]: address }, new RegExp(`^The ${name} of the authorization server `))
    await refused({ token_endpoint: undefined }, /^The token_endpoint of the authorization server is no address/)
    assert.equal(service.authorization.count('/reg'), 0)
  })

  it('is looked for at the places of the specification, in their order', async () => {
    await using more = new AsyncDisposableStack()
    const tenant = await loginService(more, { path: '/tenant' })
    assert.ok(await tenant.begin())
    assert.deepEqual(tenant.authorization.requests.map(({ path }) => path).slice(0, 3), [
      '/.well-known/oauth-authorization-server/tenant',
      '/.well-known/openid-configuration/tenant',
      '/tenant/.well-known/openid-configuration',
    ])
  })

  it('that does not answer is given up after 15 seconds', async (context) => {
    const asked = Promise.withResolvers<void>()
    service.authorization.answering = () => {
      asked.resolve()
      return true
    }
    const docs = mcpOf(service.gateway.gateway).serverState('docs')?.server
    assert.ok(docs)
    const logins = await mcpOf(service.gateway.gateway).logins()
    context.mock.timers.enable({ apis: ['setTimeout'] })
    const begun = logins.begin(docs, '', 'http://127.0.0.1:1/callback')
    await asked.promise
    context.mock.timers.tick(15_000)
    await assert.rejects(begun, /could not be reached: no answer within 15000 ms/)
    context.mock.timers.reset()
  })

  it('that answers with errors and nonsense is told of in clean words', async () => {
    service.authorization.metadata = (known) => known
    const answers = (path: string, status: number, body: string) => {
      service.authorization.answering = (request, response) => {
        if (request.url !== path) return false
        response.writeHead(status, { 'content-type': 'application/json' }).end(body)
        return true
      }
    }
    answers('/reg', 400, '{"error":"invalid_client_metadata","error_description":"\\u001b[31mNo\\u202e"}')
    await assert.rejects(service.begin(), {
      message: 'The registration of a client answered with the error invalid_client_metadata (in its words: "No").',
    })
    answers('/reg', 201, '{"client_id":7}')
    await assert.rejects(service.begin(), /The registration of a client gave no usable answer/)
    answers('/reg', 201, '{"client_id":"x","token_endpoint_auth_method":"tls_client_auth"}')
    await assert.rejects(service.begin(), /shows itself by "tls_client_auth", which is not done here/)
    for (const [status, body, message] of [
      [200, 'nonsense', /gave no usable answer/],
      [200, '{"access_token":"x","token_type":"mac"}', /gave a token of the type "mac"|gave no usable answer/],
      [200, '{"access_token":"a\\r\\nx: y","token_type":"bearer"}', /gave a token that no header can hold/],
      [500, '{}', /gave no usable answer/],
    ] as const) {
      answers('/none', 200, '')
      const address = await service.begin()
      answers('/token', status, body)
      const { searchParams } = new URL(address)
      const iss = encodeURIComponent(service.authorization.issuer)
      const came = `${searchParams.get('redirect_uri')}?code=x&iss=${iss}&state=${searchParams.get('state')}`
      await assert.rejects(service.finish(came), message)
    }
  })
})
