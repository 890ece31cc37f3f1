import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { createGateway } from 'guard-gateway/presets/default'
import { parseConfig } from '../../../../presets/default/config.ts'

const parse = (receiver: string, env = {}) =>
  parseConfig(`gateway_key: guard_0123456789abcdef\nreplay: { otlp_export: [${receiver}] }`, '/w/guard-config.yml', env)
const refusal = async (receiver: string, env = {}): Promise<string> => {
  const error = await parse(receiver, env).then(
    () => assert.fail('was accepted'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof GuardError, String(error))
  return error.message.replace(/^guard-config\.yml:2:\d+: replay\.otlp_export\[0\]/, '')
}

describe('configured span receivers', () => {
  it('have defaults, and headers from the environment', async () => {
    const receiver = `{ url: "https://c.example", headers: { api-key: "\${TOKEN}" } }`
    const { config } = await parse(receiver, { TOKEN: 'tok_0123456789' })
    assert.deepEqual(config.replay.otlp_export, [
      {
        url: 'https://c.example',
        headers: { 'api-key': 'tok_0123456789' },
        compression: 'gzip',
        timeout_ms: 10_000,
        max_queue: 2_048,
      },
    ])
  })

  for (const [receiver, message] of [
    [`{ url: "\${PASS}" }`, '.url: the environment variable PASS is not set'],
    ['{}', ': the key url is missing: such as https://collector.example/v1/traces'],
    ['{ url: collector:4318 }', '.url: expected an address that begins with http:// or https://'],
    ['{ url: "https://me:pass-1@c.example" }', '.url: holds a user name or password; use headers'],
    ['{ url: "https://c.example", header: {} }', '.header: unknown key. Did you mean "headers"?'],
    ['{ url: "https://c.example", headers: { "a b": x } }', '.headers["a…"]: cannot be sent in a header'],
    ['{ url: "https://c.example", headers: { key: "pass-1\\n" } }', '.headers.key: cannot be sent in a header'],
    ['{ url: "https://c.example", headers: { Host: x } }', '.headers.Host: is set by the gateway itself'],
    ['{ url: "https://c.example", projects: [] }', '.projects: must not be empty'],
    ['{ url: "https://c.example", timeout_ms: 0 }', '.timeout_ms: expected at least 1'],
    ['{ url: "https://c.example", compression: zstd }', '.compression: expected one of gzip, none.'],
    ['{ url: "https://c.example", max_queue: 0 }', '.max_queue: expected at least 1'],
  ] as const)
    it(`are rejected with their path and without their secrets: ${receiver}`, async () => {
      const told = await refusal(receiver)
      assert.equal(told, message)
      assert.ok(!told.includes('pass-1'))
    })

  it('on other machines give a warning without encryption', async () => {
    const { warnings } = await parse('{ url: "http://c.example:4318/x?key=1" }, { url: "http://127.0.0.1:4318" }')
    assert.deepEqual(
      warnings.filter((text) => text.includes('encryption')),
      ['Spans are sent without encryption: http://c.example:4318.'],
    )
  })

  it('have secret headers, except for routing headers', async () => {
    const headers = { authorization: 'Bearer tok_0123456789', 'x-honeycomb-team': '7c1fd0aa9be24411' }
    const places = {
      'x-honeycomb-dataset': 'guard-gateway',
      'X-Scope-OrgID': 'tenant-one',
      'stream-name': 'agents-all',
    }
    const { config } = await parse(
      `{ url: "https://c.example", headers: ${JSON.stringify({ ...headers, ...places })} }`,
    )
    const { secrets, redact } = await createGateway(config)
    assert.deepEqual(
      ['tok_0123456789', '7c1fd0aa9be24411', ...Object.values(places)].map((text) => secrets.holds(text)),
      [true, true, false, false, false],
    )
    assert.equal(redact.judgeId('guard-gateway'), 'plain')
  })

  it('add the export plugin to every preset with Replay', async () => {
    for (const preset of ['default', 'enforce-recommended', 'mcp-serve', 'mcp-stdio'] as const) {
      const { config } = await parse('{ url: "https://c.example" }')
      const plugins = async (otlp_export: typeof config.replay.otlp_export) =>
        (await createGateway({ ...config, preset, replay: { ...config.replay, otlp_export } })).plugins()
      assert.ok((await plugins(config.replay.otlp_export)).includes('otlp-push'), preset)
      assert.ok(!(await plugins([])).includes('otlp-push'), preset)
    }
  })
})
