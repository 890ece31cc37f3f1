import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { addSecrets } from '../../../../presets/default/config/credentials.ts'
import { withOverrides } from '../../../../presets/default/config/overrides.ts'
import { parseConfig } from '../../../../presets/default/config.ts'
import { certificate, privateKey } from '../../../plugins/upstream/localhost-certificate.ts'

const PROXY = 'http://bob:p%40ss-of-bob@proxy.example:3128'
const UPSTREAM = '{ name: a, base_url: "https://a.example", styles: [messages], api_key: k'

describe('proxies and certificates of a configuration', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-network-'))
    await writeFile(join(folder, 'one.pem'), `Subject: somebody\n${certificate}`)
    await writeFile(join(folder, 'two.pem'), certificate + certificate)
    await writeFile(join(folder, 'none.pem'), 'nothing')
    await writeFile(join(folder, 'key.pem'), privateKey)
    await writeFile(join(folder, 'cut.pem'), certificate + certificate.slice(0, 200))
    await writeFile(join(folder, 'broken.pem'), certificate + certificate.replace('MIIB', 'AAAA'))
  })
  after(() => rm(folder, { recursive: true }))
  const parse = (text: string, env = {}) =>
    parseConfig(`gateway_key: guard_0123456789abcdef\n${text}\n`, join(folder, 'guard-config.yml'), env)
  const refusal = async (text: string, env = {}): Promise<string> => {
    try {
      await parse(text, env)
    } catch (error) {
      return (error as Error).message
    }
    return assert.fail('was accepted')
  }

  it('use the proxies of the environment by scheme', async () => {
    const text = `
upstreams:
  - ${UPSTREAM} }
  - { name: b, base_url: "http://b.example", styles: [messages], api_key: k }
  - { name: c, base_url: "http://127.0.0.1:9", styles: [messages] }
  - { name: d, base_url: "https://d.inside.example", styles: [messages], api_key: k }
  - { name: e, base_url: "https://e.example", styles: [messages], api_key: k, proxy: none }
mcp: { servers: { f: { target: "https://f.example/mcp" }, g: { transport: stdio, command: x } } }
replay: { otlp_export: [{ url: "https://g.example" }] }`
    const { config, routes, environmentErrors } = await parse(text, { HTTPS_PROXY: PROXY, NO_PROXY: '.inside.example' })
    assert.deepEqual(
      config.upstreams.map(({ proxy }) => proxy),
      [PROXY, undefined, undefined, undefined, undefined],
    )
    assert.equal(config.mcp.servers.f?.proxy, PROXY)
    assert.equal(config.mcp.servers.g?.proxy, undefined)
    assert.equal(config.replay.otlp_export[0]?.proxy, PROXY)
    assert.deepEqual(environmentErrors, [])
    assert.deepEqual(
      routes.map(({ what, proxy, from }) => [what, proxy, from]),
      [
        ['upstream a', 'http://proxy.example:3128', 'HTTPS_PROXY'],
        ['upstream b', undefined, 'no proxy is set'],
        ['upstream c', undefined, 'no proxy is set'],
        ['upstream d', undefined, 'NO_PROXY'],
        ['upstream e', undefined, 'proxy'],
        ['MCP server f', 'http://proxy.example:3128', 'HTTPS_PROXY'],
        ['spans to g.example', 'http://proxy.example:3128', 'HTTPS_PROXY'],
      ],
    )
  })
  it('register a proxy’s password as a secret', async () => {
    for (const [text, env] of [
      [`upstreams: [${UPSTREAM} }]`, { HTTPS_PROXY: PROXY }],
      [`upstreams: [${UPSTREAM}, proxy: "${PROXY}" }]`, {}],
      [`network: { proxy: "http://bob:\${PASSWORD}@proxy.example" }`, { PASSWORD: 'p%40ss-of-bob' }],
    ] as const) {
      const { secrets } = new Gateway().use(...foundation())
      addSecrets(secrets, (await parse(text, env)).config)
      assert.ok(secrets.holds('x p@ss-of-bob y'), text)
      assert.ok(secrets.holds(`Basic ${Buffer.from('bob:p@ss-of-bob').toString('base64')}`), text)
    }
  })
  it('reject an invalid proxy with a clear error', async () => {
    for (const [text, words] of [
      [
        'network: { proxy: "socks5://bob:hidden@x" }',
        /guard-config\.yml:2:\d+: network\.proxy: names a socks5:\/\/ proxy/,
      ],
      [`upstreams: [${UPSTREAM}, proxy: "http://" }]`, /upstreams\[0\]\.proxy: is no address of a proxy/],
      [
        'mcp: { servers: { f: { target: "https://f.example", proxy: "ftp://hidden@x" } } }',
        /mcp\.servers\.f\.proxy: expected/,
      ],
      [
        'replay: { otlp_export: [{ url: "https://f.example", proxy: "http://a:%hidden@x" }] }',
        /otlp_export\[0\]\.proxy: holds/,
      ],
      [`upstreams: [${UPSTREAM}, proxy: false }]`, /upstreams\[0\]\.proxy: expected text, found true or false/],
    ] as const) {
      const told = await refusal(text)
      assert.match(told, words)
      assert.doesNotMatch(told, /hidden/)
    }
  })
  it('reject an invalid proxy of the environment only where it is used', async () => {
    const env = { ALL_PROXY: 'socks5h://bob:hidden@x:1080' }
    const { config, environmentErrors } = await parse(`upstreams: [${UPSTREAM} }]`, env)
    assert.equal(config.upstreams[0]?.proxy, undefined)
    assert.deepEqual(
      environmentErrors.map(({ path, message }) => [path.join('.'), message]),
      [
        [
          'upstreams.0.base_url',
          'ALL_PROXY names a socks5h:// proxy, which the gateway does not speak; name one that speaks HTTP, as http://host:port; or say network.proxy: none',
        ],
      ],
    )
    const without = await parse(`upstreams: [${UPSTREAM} }]\nnetwork: { proxy: none }`, env)
    assert.deepEqual(without.environmentErrors, [])
  })
  it('trust certificate files, for one address or all', async () => {
    const { config } = await parse(
      `network: { ca: [one.pem] }\nupstreams: [${UPSTREAM}, ca: [two.pem] }, { name: b, base_url: "https://b", styles: [messages], api_key: k }]\nmcp: { servers: { f: { target: "https://f.example" } } }`,
    )
    const one = certificate.trim()
    assert.deepEqual(
      config.upstreams.map(({ ca }) => ca),
      [[one, one, one], [one]],
    )
    assert.deepEqual(config.mcp.servers.f?.ca, [one])
  })
  for (const [file, words] of [
    ['absent.pem', /ca\[0\]: \/.*absent\.pem does not exist$/],
    ['.', /is a folder; name the file in it$/],
    ['none.pem', /holds no certificate in PEM/],
    ['key.pem', /key\.pem holds a private key and no certificate/],
    ['cut.pem', /cut\.pem: a certificate in it begins and does not end/],
    ['broken.pem', /broken\.pem: certificate 2 of 2 is damaged$/],
  ] as const)
    it(`reject ${file} as certificates, with its path`, async () => {
      for (const text of [`network: { ca: [${file}] }`, `upstreams: [${UPSTREAM}, ca: [${file}] }]`])
        assert.match(await refusal(text), words)
    })
  it('apply to servers of the command line', async () => {
    const { config } = await parse('network: { ca: [one.pem], no_proxy: [direct.example] }')
    const server = ['far=https://far.example/mcp', 'near=https://direct.example/mcp']
    const { servers } = withOverrides(config, { server }, folder, 'mcp serve', { https_proxy: PROXY }).mcp
    assert.deepEqual([servers.far?.proxy, servers.near?.proxy], [PROXY, undefined])
    assert.equal(servers.near?.ca?.length, 1)
  })
  it('reject invalid web origins', async () => {
    for (const [origin, words] of [
      ['"*"', /server\.allowed_origins\[0\]: would let pages of others act here/],
      ['"https://*.example"', /would let pages of others/],
      ['guard.example', /expected scheme:\/\/host or scheme:\/\/host:port, nothing behind it$/],
      ['"https://guard.example/"', /nothing behind it, as https:\/\/guard\.example$/],
      ['"https://guard.example/path"', /nothing behind it/],
      ['"https://guard.example:443"', /as https:\/\/guard\.example$/],
      ['"null"', /nothing behind it$/],
      ['"file:///x"', /nothing behind it$/],
    ] as const)
      assert.match(await refusal(`server: { allowed_origins: [${origin}] }`), words, origin)
    const { config } = await parse('server: { allowed_origins: ["https://Guard.example:8443", "http://intern"] }')
    assert.equal(config.server.allowed_origins.length, 2)
  })
})
