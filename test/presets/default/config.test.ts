import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import * as defaults from '#lib/config-defaults'
import { BASE_URL } from '../../../plugins/replay/sdk/settings.ts'
import { emptyConfig } from '../../../presets/default/config/defaults.ts'
import { parseConfig } from '../../../presets/default/config.ts'
import { withoutProcesses } from '../../kit/no-processes.ts'

const key = 'gateway_key: guard_0123456789abcdef\n'
const parse = async (text: string, env = {}) => (await parseConfig(text, '/etc/guard/guard-config.yml', env)).config

/** The lines of the refusal, after its place in the error was checked against the first of them. */
const refusal = async (text: string, env = {}): Promise<readonly string[]> => {
  const error = await parse(text, env).then(
    () => assert.fail('was accepted'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof GuardError, String(error))
  assert.equal(error.code, 'INVALID_CONFIG')
  const lines = error.message.split('\n')
  assert.ok(lines[0]?.startsWith(`guard-config.yml:${error.place.line}:${error.place.column}: `), error.message)
  return lines
}

const NO_KEY =
  'guard-config.yml:1:1: the key gateway_key is missing: the key that clients send to this gateway; a first start without a file makes one'

describe('a configuration', () => {
  it('needs only a key; all other keys have the defaults of a missing file', async () => {
    const builtIn = emptyConfig()
    const storage = { ...builtIn.storage, file: '/etc/guard/guard.db' }
    assert.deepEqual(await parse(key), { ...builtIn, gateway_key: 'guard_0123456789abcdef', storage })
    assert.deepEqual([builtIn.gateway_key, builtIn.storage.file], ['', 'guard.db'])
  })
  it('has the same defaults as the plugins', async () => {
    const { server, sessions, replay, mcp, upstreams } = await parse(key, { OPENAI_API_KEY: 'sk-openai' })
    assert.deepEqual(server, defaults.serverDefaults)
    assert.deepEqual(sessions, defaults.sessionDefaults)
    assert.deepEqual({ ...replay, ...defaults.replayDefaults }, replay)
    assert.deepEqual({ ...mcp, ...defaults.mcpDefaults }, mcp)
    assert.deepEqual(upstreams[0]?.timeouts, defaults.timeoutDefaults)
    assert.equal(BASE_URL, `http://${server.host}:${server.port}`, 'the SDK imports no library')
  })
  it('hands out defaults that nobody else has, so that what is filled in changes no other', () => {
    const { server, mcp, replay } = emptyConfig()
    for (const own of [server, mcp.limits, replay, replay.retention]) Object.assign(own, { changed: true })
    assert.doesNotMatch(JSON.stringify(emptyConfig()), /changed/)
  })
  it('prefers the price file from the environment', async () => {
    const text = `${key}\nreplay: { pricing: prices.yml }`
    assert.equal((await parse(text)).replay.pricing, '/etc/guard/prices.yml')
    const named = await parse(text, { GUARD_MODEL_PRICING: '/srv/prices.yml' })
    assert.equal(named.replay.pricing, '/srv/prices.yml')
  })
  it('resolves references in every text', async () => {
    const text = `${key}upstreams:\n  - { name: a, base_url: "http://127.0.0.1:\${PORT}/v1", styles: [messages], headers: { x-team: "\${TEAM}-\${TEAM}" } }`
    const [upstream] = (await parse(text, { PORT: '1234', TEAM: 'red' })).upstreams
    assert.equal(upstream?.base_url, 'http://127.0.0.1:1234/v1')
    assert.deepEqual(upstream?.headers, { 'x-team': 'red-red' })
  })
  it('does not resolve a resolved text again', async () => {
    assert.equal((await parse(`gateway_key: "\${A}"`, { A: 'abcdefghijklmnop$B' })).gateway_key, 'abcdefghijklmnop$B')
  })
  it('resolves relative files from its folder', async () => {
    const { plugins } = await parse(`${key}plugins: [./mine.ts, /opt/other.ts]`)
    assert.deepEqual(plugins, ['/etc/guard/mine.ts', '/opt/other.ts'])
  })
})

describe('a configuration error has file, line and column', () => {
  it('for an unknown key, with the nearest known key', async () => {
    assert.deepEqual(await refusal(`${key}server:\n  prot: 1`), [
      'guard-config.yml:3:3: server.prot: unknown key. Did you mean "port"?',
    ])
    assert.deepEqual(await refusal(`${key}defualt_mode: shadow`), [
      'guard-config.yml:2:1: defualt_mode: unknown key. Did you mean "default_mode"?',
    ])
    assert.deepEqual(await refusal('{gateway_key:sk-secret, gateway_key=sk-secret, gateway_key sk-secret}'), [
      NO_KEY,
      'guard-config.yml:1:2: ["gateway_key…"]: unknown key. A colon and a space must follow it.',
      'guard-config.yml:1:25: ["gateway_key…"]: unknown key. A colon and a space must follow it.',
      'guard-config.yml:1:48: ["gateway_key…"]: unknown key. A colon and a space must follow it.',
    ])
    assert.deepEqual(await refusal(`${key}spelt: {}`), ['guard-config.yml:2:1: spelt: unknown key.'])
  })
  it('for a value of a wrong type, with the expected type', async () => {
    assert.deepEqual(await refusal(`${key}server: { port: "8787", allow_mode_header: 1 }`), [
      'guard-config.yml:2:11: server.port: expected a whole number, found text',
      'guard-config.yml:2:25: server.allow_mode_header: expected true or false, found a number',
    ])
    assert.deepEqual(await refusal(`${key}server: 8787`), [
      'guard-config.yml:2:1: server: expected a map of keys, found a number',
    ])
    assert.deepEqual(await refusal(`${key}plugins: mine.ts`), [
      'guard-config.yml:2:1: plugins: expected a list, found text',
    ])
    assert.deepEqual(await refusal(`${key}storage:`), [
      'guard-config.yml:2:1: storage: expected a map of keys, found nothing',
    ])
  })
  it('for a key inside of a quoted number', async () => {
    assert.deepEqual(await refusal(`${key}mcp:\n  servers:\n    "8":\n      insecure: 1\n      targt: x`), [
      'guard-config.yml:6:7: mcp.servers.8.targt: unknown key. Did you mean "target"?',
      'guard-config.yml:5:7: mcp.servers.8.insecure: expected true or false, found a number',
    ])
  })
  it('for a value out of range or outside of an enum', async () => {
    assert.deepEqual(await refusal(`${key}server: { port: 70000 }`), [
      'guard-config.yml:2:11: server.port: expected at most 65535',
    ])
    assert.deepEqual(await refusal(`${key}default_mode: enforced`), [
      'guard-config.yml:2:1: default_mode: expected one of shadow, enforce. Did you mean "enforce"?',
    ])
    assert.deepEqual(await refusal(`${key}server: { block_status_override: { "opencode/*": 404 } }`), [
      'guard-config.yml:2:36: server.block_status_override["opencode/*"]: expected one of 400, 402, 403, null.',
    ])
  })
  it('for an unset or empty variable, with variable and key', async () => {
    const text = `${key}upstreams:\n  - name: a\n    base_url: http://127.0.0.1:1\n    styles: [messages]\n    api_key: \${NO_SUCH}`
    const expected = ['guard-config.yml:6:5: upstreams[0].api_key: the environment variable NO_SUCH is not set']
    assert.deepEqual(await refusal(text), expected)
    assert.deepEqual(await refusal(text, { NO_SUCH: '' }), expected)
    assert.deepEqual(
      await refusal(text.replace('NO_SUCH', 'toString')),
      expected.map((line) => line.replace('NO_SUCH', 'toString')),
    )
  })
  it('for a missing, empty, placeholder or unprintable key, without its value', async () => {
    assert.deepEqual(await refusal('default_mode: shadow'), [NO_KEY])
    assert.match((await refusal('gateway_key: ""'))[0] ?? '', /^guard-config\.yml:1:1: gateway_key: the key is empty/)
    for (const bad of ['<your key here>', 'changeme', 'CHANGE_ME', `x-$\{not a name}`, 'xxxxxxxxxxxxxxxxxxxx']) {
      const [line = ''] = await refusal(`gateway_key: ${JSON.stringify(bad)}`)
      assert.match(line, /the key is a placeholder/)
      assert.ok(!line.includes(bad))
    }
    for (const bad of [
      'guard_0123456789 abcdef',
      'guard_0123456789\tabcdef',
      'schlüssel-schlüssel',
      'key\u0000key0123456789',
    ]) {
      const [line = ''] = await refusal(`gateway_key: ${JSON.stringify(bad)}`)
      assert.match(line, /outside printable ASCII/)
      assert.ok(!line.includes(bad))
    }
  })
  it('for an invalid or shared approver key, without its value', async () => {
    const approver = (value: string) => `${key}mcp:\n  approver_key: ${JSON.stringify(value)}\n`
    for (const [bad, message] of [
      [`sha256:${'0'.repeat(63)}`, /expected 64 hexadecimal digits behind sha256:$/],
      ['guard_0123456789abcdef', /is the gateway key/],
      ['only-a-person ', /begins or ends with a blank/],
      ['schlüssel', /outside printable ASCII/],
    ] as const) {
      const [line = ''] = await refusal(approver(bad))
      assert.match(line, /^guard-config\.yml:3:3: mcp\.approver_key: /)
      assert.match(line, message)
      assert.ok(!line.includes(bad))
    }
    for (const good of [`SHA256:${'A'.repeat(64)}`, 'correct horse  battery', 'x'])
      assert.equal((await parse(approver(good))).mcp.approver_key, good)
  })
  it('for invalid upstreams', async () => {
    const upstream = (more: string) =>
      `${key}upstreams:\n  - { name: a, base_url: "http://h/v1", styles: [messages], ${more} }\n`
    assert.match(
      (await refusal(upstream('fallback: [b]')))[0] ?? '',
      /^guard-config\.yml:3:\d+: upstreams\[0\]\.fallback\[0\]: "b" is no other upstream; there is a$/,
    )
    assert.match(
      (await refusal(upstream('headers: { "x y": z }')))[0] ?? '',
      /upstreams\[0\]\.headers\["x…"\]: cannot be sent in a header/,
    )
    for (const framing of ['Content-Length: "5"', 'transfer-encoding: chunked'])
      assert.match(
        (await refusal(upstream(`headers: { ${framing} }`)))[0] ?? '',
        /upstreams\[0\]\.headers\.[\w-]+: follows from the body, so the gateway sends it itself; remove it$/,
      )
    assert.match((await refusal(upstream('paths: { messages: v1 }')))[0] ?? '', /must begin with a slash/)
    assert.match(
      (await refusal(`${upstream('')}  - { name: a, base_url: "http://h", styles: [responses] }`))[0] ?? '',
      /upstreams\[1\]\.name: "a" names two upstreams/,
    )
    assert.match(
      (await refusal(`${key}upstreams: [{ name: a, base_url: "ftp://h", styles: [messages] }]`))[0] ?? '',
      /begins with http/,
    )
    assert.match(
      (await refusal(`${key}upstreams: [{ name: a, base_url: "http://u:p@h", styles: [messages] }]`))[0] ?? '',
      /user name or password/,
    )
    assert.match(
      (await refusal(`${key}upstreams: [{ name: a, base_url: "http://h" }]`))[0] ?? '',
      /upstreams\[0\]: the key styles is missing: messages, responses, chat_completions, gemini, ollama/,
    )
    assert.match(
      (await refusal(`${key}upstreams: [{ name: a, base_url: "http://h", styles: [] }]`))[0] ?? '',
      /styles: must not be empty/,
    )
  })
  it('for patterns that are invalid or match everything', async () => {
    assert.match(
      (await refusal(`${key}redaction: { patterns: ["ok", "(a"] }`))[0] ?? '',
      /redaction\.patterns\[1\]: is no pattern of RE2 syntax/,
    )
    assert.match(
      (await refusal(`${key}redaction: { patterns: ["a*"] }`))[0] ?? '',
      /redaction\.patterns\[0\]: matches the empty text/,
    )
  })
  it('for invalid YAML, a duplicate key, or a document that is no map', async () => {
    const broken = await parse(`${key}server: { port: 1`).then(
      () => assert.fail(),
      (error: unknown) => error,
    )
    assert.ok(broken instanceof GuardError && broken.code === 'INVALID_CONFIG')
    assert.match(broken.message, /^guard-config\.yml:\d+:\d+: /)
    await assert.rejects(parse(`${key}${key}`), /:2:1: The key appears twice/)
    const long = `${key}${'# why\n'.repeat(3_000)}`
    const unread = { code: 'PARSER_UNAVAILABLE', message: /^guard-config\.yml: The text was not read: / }
    await withoutProcesses(() => assert.rejects(parse(long), unread))
    assert.deepEqual(await refusal('- a'), ['guard-config.yml:1:1: expected a map of keys, found a list'])
  })
})
