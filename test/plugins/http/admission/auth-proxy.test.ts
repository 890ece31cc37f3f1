import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import type { Plugin } from 'guard-gateway/core'
import { type Principal, principalSourceKind } from '#lib/principal'
import { AuthProxy, type AuthProxyOptions, peerError } from '../../../../plugins/http/admission/auth-proxy.ts'
import { ask, chatBody, jsonOf, start } from '../kit.ts'

const options: AuthProxyOptions = {
  header: 'X-Forwarded-User',
  from: ['10.0.0.5', '10.1.0.0/16', 'fd00::/8'],
  groups_header: 'x-forwarded-groups',
  scopes: { default: ['read'], 'alice@example.com': ['admin'], zoé: ['models'] },
  groups: { ops: ['operate'], chiefs: ['admin'] },
  projects: {},
}

const asked = (remoteAddress: string | undefined, ...rawHeaders: readonly string[]): IncomingMessage => {
  const headers: Record<string, string> = {}
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers[String(rawHeaders[index]).toLowerCase()] = String(rawHeaders[index + 1])
  return { rawHeaders: [...rawHeaders], headers, socket: { remoteAddress } } as unknown as IncomingMessage
}

const told = (principal: Principal | undefined) =>
  principal && { name: principal.name, scopes: [...principal.scopes].sort().join(' '), projects: principal.projects }

describe('a proxy that authenticates people', () => {
  const proxy = new AuthProxy(options)
  const all = 'admin ingest mcp models operate read'
  for (const [title, address, headers, name, scopes] of [
    ['named', '10.0.0.5', ['x-forwarded-user', 'alice@example.com'], 'alice@example.com', all],
    ['whom nobody named', '10.1.255.255', ['X-FORWARDED-USER', 'bob'], 'bob', 'read'],
    ['over IPv6', 'fd12::1', ['x-forwarded-user', 'bob'], 'bob', 'read'],
    ['by IPv4 on a socket of IPv6', '::ffff:10.1.2.3', ['x-forwarded-user', 'bob'], 'bob', 'read'],
    ['on an interface', 'fd12::1%eth0', ['x-forwarded-user', 'bob'], 'bob', 'read'],
    ['in a group', '10.0.0.5', ['x-forwarded-user', 'bob', 'x-forwarded-groups', 'staff, ops'], 'bob', 'operate read'],
    [
      'in groups of two lines',
      '10.0.0.5',
      ['x-forwarded-user', 'b', 'x-forwarded-groups', 'a', 'X-Forwarded-Groups', 'chiefs'],
      'b',
      all,
    ],
    [
      'with a name beyond ASCII',
      '10.0.0.5',
      ['x-forwarded-user', Buffer.from(' zoé ').toString('latin1')],
      'zoé',
      'models',
    ],
    ['with the name of a member of every object', '10.0.0.5', ['x-forwarded-user', '__proto__'], '__proto__', 'read'],
    [
      'in a group of such a name',
      '10.0.0.5',
      ['x-forwarded-user', 'b', 'x-forwarded-groups', 'constructor'],
      'b',
      'read',
    ],
  ] as const) {
    it(`is believed of somebody ${title}`, () => {
      const principal = proxy.principalOf(asked(address, ...headers))
      assert.deepEqual(told(principal), { name, scopes, projects: null })
      assert.equal(principal?.kind, 'proxy')
    })
  }

  for (const [title, address, headers] of [
    ['another address', '10.0.0.6', ['x-forwarded-user', 'alice@example.com']],
    ['a network beside', '10.2.0.1', ['x-forwarded-user', 'alice@example.com']],
    [
      'a list of forwarders that names it',
      '192.0.2.9',
      ['x-forwarded-user', 'alice@example.com', 'x-forwarded-for', '10.0.0.5'],
    ],
    ['a connection that is gone', undefined, ['x-forwarded-user', 'alice@example.com']],
    ['the proxy without the header', '10.0.0.5', ['x-other', 'alice@example.com']],
    ['the proxy with groups alone', '10.0.0.5', ['x-forwarded-groups', 'chiefs']],
  ] as const) {
    it(`is nobody from ${title}`, () => {
      assert.equal(proxy.principalOf(asked(address, ...headers)), undefined)
    })
  }

  for (const [title, ...headers] of [
    ['two lines', 'x-forwarded-user', 'mallory', 'X-Forwarded-User', 'alice@example.com'],
    ['an empty one', 'x-forwarded-user', '  '],
    ['a very long one', 'x-forwarded-user', 'a'.repeat(257)],
  ] as const) {
    it(`is refused with ${title}`, () => {
      assert.throws(() => proxy.principalOf(asked('10.0.0.5', ...headers)), { code: 'INVALID_HEADER' })
    })
  }

  it('takes the headers out, whoever sent them, and answers the same when asked again', () => {
    for (const [address, name] of [
      ['192.0.2.1', undefined],
      ['10.0.0.5', 'bob'],
    ] as const) {
      const request = asked(address, 'a', '1', 'X-Forwarded-User', 'bob', 'x-forwarded-groups', 'ops', 'b', '2')
      assert.equal(proxy.principalOf(request)?.name, name)
      assert.deepEqual(request.rawHeaders, ['a', '1', 'b', '2'])
      assert.deepEqual(request.headers, { a: '1', b: '2' })
      assert.equal(proxy.principalOf(request)?.name, name)
    }
  })

  it('gives people their projects; who is not named has those of default, or none', () => {
    const of = (projects: AuthProxyOptions['projects'], name: string) =>
      new AuthProxy({ ...options, projects }).principalOf(asked('10.0.0.5', 'x-forwarded-user', name))?.projects
    assert.deepEqual(of({ bob: ['web', 'app'] }, 'bob'), ['web', 'app'])
    assert.deepEqual(of({ bob: ['web'] }, 'carol'), [])
    assert.deepEqual(of({ bob: ['web'], default: ['demo'] }, 'carol'), ['demo'])
  })

  it('gives nothing to whom nobody named, without a default', () => {
    const none = new AuthProxy({ ...options, scopes: {} })
    assert.equal(none.principalOf(asked('10.0.0.5', 'x-forwarded-user', 'bob'))?.scopes.size, 0)
  })

  it('needs addresses', () => {
    for (const entry of ['10.0.0.5', '10.0.0.0/8', '::1', 'fd00::/7', '0.0.0.0/0'])
      assert.equal(peerError(entry), undefined)
    for (const entry of [
      'proxy.example',
      '10.0.0',
      '10.0.0.0/33',
      'fd00::/129',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '',
      '1.2.3.4/-1',
    ]) {
      assert.match(String(peerError(entry)), /^expected /, entry)
      assert.throws(() => new AuthProxy({ ...options, from: [entry] }), TypeError)
    }
  })
})

describe('a gateway behind such a proxy', () => {
  const who: Plugin = {
    name: 'who',
    apply: (gateway) =>
      gateway.hooks.http.tap('who', (app) => {
        app.get('/api/who', { config: { scope: 'open' } }, async ({ raw }) => {
          const [source] = [...gateway.registry(principalSourceKind)]
          return { name: (await source?.principalOf(raw))?.name ?? null, headers: Object.keys(raw.headers) }
        })
      }),
  }
  for (const [title, from, name] of [
    ['believes it', ['127.0.0.1'], 'alice@example.com'],
    ['believes nobody else', ['192.0.2.1'], null],
  ] as const) {
    it(`${title}, and tells no upstream and no route who it is`, async () => {
      const auth_proxy = { ...options, header: 'Remote-User', groups_header: 'Remote-Groups', from }
      await using running = await start({ server: { auth_proxy }, plugins: [who] })
      const headers = { 'remote-user': 'alice@example.com', 'remote-groups': 'ops' }
      const got = jsonOf(await ask(running.port, { method: 'GET', path: '/api/who', headers }))
      assert.equal(got.name, name)
      for (const more of [headers, { ...headers, expect: '100-continue' }])
        assert.equal((await ask(running.port, { body: chatBody, headers: more })).status, 200)
      assert.equal(running.provider.requests.length, 2)
      for (const sent of [...running.provider.requests.map((request) => request.headers), got.headers])
        assert.doesNotMatch(JSON.stringify(sent), /remote-(?:user|groups)/i)
    })
  }
})
