import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { startChildGateway } from '../../kit/child-gateway.ts'
import { startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'
import { mcpUpstream } from '../../kit/mcp-upstream.ts'
import { authority, expired } from '../../kit/private-authority.ts'
import { type FakeProvider, fakeProvider } from '../../kit/provider.ts'
import { type TestProxy, testProxy } from '../../kit/proxy.ts'
import { type TlsFront, tlsFront } from '../../kit/tls-front.ts'

const LOGIN = 'bob:p%40ss-of-bob'
const body = { model: 'm', messages: [{ role: 'user', content: 'Hello.' }] }
const portOf = (url: string): number => Number(new URL(url).port)

describe('a gateway in a network that lets nothing out but through a proxy', () => {
  let folder = ''
  let models: FakeProvider
  let spans: FakeProvider
  let tools: Awaited<ReturnType<typeof mcpUpstream>>
  const fronts: Record<string, TlsFront> = {}
  let proxy: TestProxy
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-proxied-'))
    await writeFile(join(folder, 'root.pem'), authority)
    models = await fakeProvider()
    spans = await fakeProvider()
    tools = await mcpUpstream()
    fronts['models.example'] = await tlsFront(portOf(models.url))
    fronts['spans.example'] = await tlsFront(portOf(spans.url))
    fronts['tools.example'] = await tlsFront(portOf(tools.url))
    fronts['other.example'] = fronts['models.example']
    fronts.localhost = await tlsFront(portOf(models.url), expired)
    proxy = await testProxy((host) => fronts[host]?.port ?? portOf(models.url))
    proxy.login = 'bob:p@ss-of-bob'
  })
  after(async () => {
    await proxy[Symbol.asyncDispose]()
    for (const front of new Set(Object.values(fronts))) await front[Symbol.asyncDispose]()
    await Promise.all([models.close(), spans.close(), tools.close()])
    await rm(folder, { recursive: true })
  })
  const network = (more = 'ca: [root.pem]') => `network: { proxy: "${proxy.url(LOGIN)}", ${more} }`

  it('reaches models, MCP servers and receivers of spans, and its bytes stay what they are', async () => {
    const config = `${network()}
mcp: { servers: { docs: { target: "https://tools.example/mcp" } } }
replay: { otlp_export: [{ url: "https://spans.example" }] }`
    const gateway = await startGateway({ folder, upstream: 'https://models.example', config })
    const answer = await gateway.request('POST', '/v1/chat/completions', body, { 'proxy-authorization': 'Basic bm8=' })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(String(models.last.body), JSON.stringify(body))
    assert.doesNotMatch(models.last.headers.join('\n'), /proxy|^via$/im)
    const stream = await gateway.request('POST', '/v1/chat/completions', { ...body, stream: true })
    assert.match(stream.text, /data: \[DONE\]/)
    const opened = await gateway.request(
      'POST',
      '/mcp/docs',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      },
      { accept: 'application/json, text/event-stream' },
    )
    assert.equal(opened.status, 200, opened.text)
    await gateway.close()
    assert.match(spans.last.path, /^\/v1\/traces/)
    const tunnels = proxy.lines.map((line) => line.replace(/^CONNECT (.*):443 HTTP\/1.1$/, '$1'))
    assert.deepEqual([...new Set(tunnels)].sort(), ['models.example', 'spans.example', 'tools.example'])
    assert.equal(tunnels.filter((host) => host === 'models.example').length, 1, 'the tunnel is used again')
    assert.doesNotMatch(gateway.logText(), /p@ss|p%40ss/)
  })
  it('says what is wrong with a proxy or a certificate, and what to do', async () => {
    for (const [upstream, config, words] of [
      [
        'https://models.example',
        network(''),
        /through the proxy http:\/\/127\.0\.0\.1:\d+: an authority that is not known here signed its certificate \((?:UNABLE|SELF)\w+\)\. If it is meant to, as where a proxy inspects TLS, name the PEM file .* NODE_EXTRA_CA_CERTS=<file>/,
      ],
      [
        'https://other.example',
        network(),
        /its certificate is for another name \(ERR_TLS_CERT_ALTNAME_INVALID\)\. Use the name/,
      ],
      [
        'https://models.example',
        `network: { proxy: "${proxy.url('bob:wrong-one')}" }`,
        /could not be reached: the proxy http:\/\/127\.0\.0\.1:\d+ refuses the login it was shown \(407\)/,
      ],
      [
        'http://models.example',
        `network: { proxy: "${proxy.url()}" }`,
        /the proxy http:\/\/127\.0\.0\.1:\d+ wants a login \(407\).* Check HTTPS_PROXY/,
      ],
      [
        'https://models.example',
        'network: { proxy: "http://127.0.0.1:9" }',
        /the proxy http:\/\/127\.0\.0\.1:9 cannot be reached: nothing listens there \(ECONNREFUSED\)/,
      ],
    ] as const) {
      const gateway = await startGateway({ folder, upstream, config })
      const { status, text } = await gateway.request('POST', '/v1/chat/completions', body)
      await gateway.close()
      assert.deepEqual([status, /UPSTREAM_UNREACHABLE/.test(text)], [502, true], text)
      assert.match(text, words)
      assert.doesNotMatch(text + gateway.logText(), /p@ss|p%40ss|wrong-one/)
    }
  })
  it('says of an expired certificate that it has', async () => {
    const upstreams = `upstreams: [{ name: p, base_url: "https://localhost", styles: [chat_completions], proxy: "${proxy.url(LOGIN)}", ca: [root.pem] }]`
    const gateway = await startGateway({ folder, config: upstreams })
    const { text } = await gateway.request('POST', '/v1/chat/completions', body)
    await gateway.close()
    assert.match(text, /its certificate has expired \(CERT_HAS_EXPIRED\)\. Check the clock/)
  })
  it('sends whole URLs where nothing is encrypted', async () => {
    const gateway = await startGateway({ folder, upstream: 'http://plain.example', config: network() })
    const { status } = await gateway.request('POST', '/v1/chat/completions', body)
    await gateway.close()
    assert.equal(status, 200)
    assert.equal(proxy.lines.at(-1), 'POST http://plain.example/v1/chat/completions HTTP/1.1')
    assert.doesNotMatch(models.last.headers.join('\n'), /proxy-/i)
  })
  it('reads variables when it is started, NODE_EXTRA_CA_CERTS among them', async () => {
    const place = await mkdtemp(join(tmpdir(), 'guard-proxied-child-'))
    const env = {
      HTTPS_PROXY: proxy.url(LOGIN),
      NODE_USE_ENV_PROXY: '1',
      NODE_EXTRA_CA_CERTS: join(folder, 'root.pem'),
    }
    const before = proxy.heads.length
    const gateway = await startChildGateway(place, 'https://models.example', '', 0, env)
    try {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      assert.equal(answer.status, 200, await answer.text())
      assert.deepEqual(proxy.lines.slice(before), ['CONNECT models.example:443 HTTP/1.1'])
    } finally {
      await gateway.end('SIGTERM')
      await rm(place, { recursive: true })
    }
    assert.doesNotMatch(gateway.said(), /p@ss|p%40ss/)
  })
  it('is examined by doctor on the same ways', async () => {
    const env = {
      HTTPS_PROXY: proxy.url(LOGIN),
      NO_PROXY: 'spans.example',
      NODE_EXTRA_CA_CERTS: '/nowhere.pem',
      PATH: process.env.PATH,
    }
    const place = await mkdtemp(join(tmpdir(), 'guard-proxied-doctor-'))
    await writeFile(join(place, 'root.pem'), authority)
    await writeFile(
      join(place, 'guard-config.yml'),
      `gateway_key: guard_0123456789abcdefgh
storage: { backend: memory }
server: { port: 0 }
upstreams: [{ name: one, base_url: "https://models.example", styles: [messages], api_key: k, ca: [root.pem] }, { name: two, base_url: "https://models.example", styles: [responses], api_key: k }]
replay: { otlp_export: [{ url: "https://spans.example" }] }
mcp: { servers: { docs: { target: "https://tools.example/mcp", ca: [root.pem] } } }
`,
      { mode: 0o600 },
    )
    models.script({ status: 404 })
    const io = fakeIo({ cwd: place, env })
    const code = await main(['doctor', '--online'], io)
    const out = io.outText()
    await rm(place, { recursive: true })
    const shown = `http://127\\.0\\.0\\.1:${proxy.port}`
    for (const part of [
      `upstream one is reached through the proxy ${shown} \\(HTTPS_PROXY\\)`,
      `MCP server docs is reached through the proxy ${shown}`,
      'spans to spans\\.example is reached directly \\(NO_PROXY\\)',
      'O=Example Works, CN=Example Works Root are trusted for upstream one, MCP server docs',
      'NODE_EXTRA_CA_CERTS names /nowhere\\.pem, which cannot be read \\(ENOENT\\)',
      '✓ upstream one answers \\(404\\)',
      '✗ upstream two at https://models\\.example does not answer: an authority that is not known here',
      '✓ MCP server docs answers',
      '✗ the receiver of spans at https://spans\\.example does not answer: its host name',
    ])
      assert.match(out, new RegExp(part))
    assert.equal(code, 1)
    assert.doesNotMatch(out, /p@ss|p%40ss|bob/)
  })
  it('does not start with a proxy that it cannot speak to, and doctor says so', async () => {
    const place = await mkdtemp(join(tmpdir(), 'guard-proxied-socks-'))
    const text =
      'gateway_key: guard_0123456789abcdefgh\nserver: { port: 0 }\nstorage: { backend: memory }\nupstreams: [{ name: one, base_url: "https://models.example", styles: [messages], api_key: k }]\n'
    await writeFile(join(place, 'guard-config.yml'), text, { mode: 0o600 })
    const env = { ALL_PROXY: 'socks5://bob:hidden@127.0.0.1:1080', PATH: process.env.PATH }
    const [run, doctor] = [fakeIo({ cwd: place, env }), fakeIo({ cwd: place, env })]
    assert.equal(await main(['gateway', 'run'], run), 78)
    assert.match(
      run.errText(),
      /guard-config\.yml:4:\d+: upstreams\[0\]\.base_url: ALL_PROXY names a socks5:\/\/ proxy/,
    )
    assert.equal(await main(['doctor'], doctor), 1)
    assert.match(doctor.outText(), /✗ ALL_PROXY names a socks5:\/\/ proxy/)
    assert.doesNotMatch(run.errText() + doctor.outText(), /hidden/)
    await rm(place, { recursive: true })
  })
})
