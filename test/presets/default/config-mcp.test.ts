import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { type Config, parseConfig } from '../../../presets/default/config.ts'
import { createGateway } from '../../../presets/default/index.ts'

const KEY = 'gateway_key: guard_0123456789abcdef\n'
const parse = async (text: string, env = {}): Promise<Config> =>
  (await parseConfig(KEY + text, '/etc/guard/guard-config.yml', env)).config
const refusal = async (text: string): Promise<string> => {
  try {
    await parse(text)
  } catch (error) {
    assert.ok(error instanceof GuardError)
    return error.message
  }
  return assert.fail('was accepted')
}

describe('the configuration section mcp', () => {
  it('resolves paths from its folder, and fills in server defaults', async () => {
    const { mcp } = await parse(
      'mcp: { policy: p.yml, servers: { a: { target: "https://x.example/mcp" }, b: { transport: stdio, command: run, cwd: sub } } }',
    )
    assert.equal(mcp.policy, '/etc/guard/p.yml')
    assert.deepEqual(mcp.servers.a, {
      transport: 'http',
      target: 'https://x.example/mcp',
      headers: {},
      timeout_seconds: 300,
      insecure: false,
      args: [],
      env: {},
    })
    assert.equal(mcp.servers.b?.cwd, '/etc/guard/sub')
  })

  it('resolves header values from the environment, and registers them as secrets', async () => {
    const config = await parse(
      `mcp: { servers: { a: { target: "https://x.example/mcp", headers: { Authorization: "Bearer \${T}" } } } }`,
      {
        T: 'token-0123456789',
      },
    )
    const gateway = await createGateway(config)
    assert.ok(gateway.secrets.holds('token-0123456789'))
  })

  for (const [text, message] of [
    [
      'mcp: { servers: { "a b": { target: "https://x.example/mcp" } } }',
      /:2:19: mcp\.servers\["a…"\]: must be 1 to 64 letters, digits, dots, underscores or dashes, and not "\." or "\.\."$/,
    ],
    ['mcp: { servers: { "..": { target: "https://x.example/mcp" } } }', /mcp\.servers\["\.\."\]: must be/],
    ['mcp: { limits: { frame_bytes: 999 } }', /mcp\.limits\.frame_bytes: expected at least 1000$/],
    ['mcp: { servers: { a: {} } }', /mcp\.servers\.a: transport http needs the key target$/],
    ['mcp: { servers: { a: { transport: stdio } } }', /mcp\.servers\.a: transport stdio needs the key command$/],
    ['mcp: { servers: { a: { target: "ftp://x" } } }', /target: expected an address that begins with http/],
    ['mcp: { servers: { a: { target: "https://u:p@x/mcp" } } }', /target: holds a user name or password/],
    ['mcp: { servers: { a: { target: "http://x.example/mcp" } } }', /target: would be reached without encryption/],
    [
      'mcp: { servers: { a: { target: "http://[::1]:1/", headers: { Mcp-Session-Id: x } } } }',
      /the proxy sends this header itself$/,
    ],
    [
      'mcp: { servers: { a: { target: "http://127.0.0.1/", headers: { host: x } } } }',
      /the proxy sends this header itself$/,
    ],
    ['mcp: { servers: { a: { target: "http://127.0.0.1/", headers: { "x y": x } } } }', /cannot be sent in a header$/],
    ['mcp: { servers: { "a/b": { target: "http://127.0.0.1/" } } }', /mcp\.servers/],
    ['mcp: { servers: { a: { targt: "http://127.0.0.1/" } } }', /unknown key\. Did you mean "target"/],
    ['mcp: { allowed_origins: ["https://x.example/"] }', /allowed_origins\[0\]: expected scheme:\/\/host/],
    ['mcp: { allowed_origins: ["null"] }', /allowed_origins\[0\]/],
    ['mcp: { limits: { pending: 0 } }', /pending: expected at least 1/],
    ['mcp: { polcy: x }', /mcp\.polcy: unknown key\. Did you mean "policy"/],
  ] as const)
    it(`rejects ${text}`, async () => assert.match(await refusal(text), message))

  it('allows insecure http to another machine', async () => {
    await parse('mcp: { servers: { a: { target: "http://x.example/mcp", insecure: true } } }')
  })

  it('rejects an unknown transport when the gateway opens', async () => {
    const gateway = await createGateway(
      await parse('storage: { backend: memory }\nmcp: { servers: { a: { transport: pigeon } } }'),
    )
    await assert.rejects(
      gateway.open(),
      /There is no MCP transport "pigeon"; there is stdio, http, sse, playground, replay\./,
    )
  })
})
