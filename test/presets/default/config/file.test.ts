import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { configFile } from '../../../../presets/default/config/file.ts'
import { loadConfig, parseConfig } from '../../../../presets/default/config.ts'

const key = 'gateway_key: guard_0123456789abcdef\n'
const warnings = async (text: string, env = {}) =>
  (await parseConfig(text, '/etc/guard/guard-config.yml', env)).warnings

describe('a configuration has a warning', () => {
  it('for a short key', async () => {
    assert.match(
      (await warnings('gateway_key: short-key', { OPENAI_API_KEY: 'x' }))[0] ?? '',
      /fewer than 16 characters/,
    )
    assert.deepEqual(await warnings(key, { OPENAI_API_KEY: 'x' }), [])
  })
  it('for a passthrough upstream as fallback', async () => {
    const upstream = (name: string, more: string) =>
      `{ name: ${name}, base_url: "https://a.example", styles: [messages], ${more} }`
    const text = `${key}upstreams: [${upstream('a', 'fallback: [b, c]')}, ${upstream('b', 'auth: passthrough')}, ${upstream('c', 'auth: none')}]\n`
    const told = await warnings(text)
    assert.deepEqual(told, [
      'Upstream a never falls back to b: auth: passthrough takes a login, and no login goes to a stand-in.',
    ])
  })
  it('for no upstreams, plain http, a missing key, and unchecked certificates', async () => {
    assert.match((await warnings(key)).join(), /^No upstream: set OPENAI_API_KEY/)
    const told = await warnings(
      `${key}upstreams:\n  - { name: a, base_url: "http://far.example/v1", styles: [messages] }\n  - { name: b, base_url: "http://127.0.0.1:1", styles: [messages], auth: bearer }`,
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    )
    assert.deepEqual(told.length, 3)
    assert.match(told[0] ?? '', /Upstream a is reached without encryption: http:\/\/far\.example\./)
    assert.match(told[1] ?? '', /Upstream b has auth: bearer but no api_key/)
    assert.match(told[2] ?? '', /NODE_TLS_REJECT_UNAUTHORIZED/)
  })
})

describe('a configuration without its keys in the environment', () => {
  const text = [
    key,
    `upstreams:\n  - { name: a, base_url: "http://127.0.0.1:1", styles: [messages], api_key: "\${MY_KEY}", headers: { x-team: "\${TEAM}" } }\n`,
    `mcp: { approver_key: "\${APPROVER}", servers: { s: { transport: stdio, command: x, env: { T: "\${TOKEN}" } } } }\n`,
  ].join('')
  it('cannot serve', async () => {
    await assert.rejects(parseConfig(text, 'guard-config.yml', {}), /MY_KEY is not set.*TEAM.*APPROVER.*TOKEN/s)
  })
  it('is enough for commands that call a gateway, except for its own key and addresses', async () => {
    const { config } = await parseConfig(text, 'guard-config.yml', {}, 'ask')
    assert.equal(config.upstreams[0]?.name, 'a')
    const addressed = text.replace('http://127.0.0.1:1', `\${BASE}`)
    await assert.rejects(
      parseConfig(addressed, 'guard-config.yml', {}, 'ask'),
      /base_url: the environment variable BASE/,
    )
    const keyless = text.replace(key, `gateway_key: "\${GATEWAY}"\n`)
    await assert.rejects(
      parseConfig(keyless, 'guard-config.yml', {}, 'ask'),
      /gateway_key: the environment variable GATEWAY/,
    )
  })
})

describe('a configuration file', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-config-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('gives a warning with the command to run if others can read it', async () => {
    const file = join(folder, 'open.yml')
    await writeFile(file, key, { mode: 0o644 })
    const env = { OPENAI_API_KEY: 'x' }
    assert.deepEqual((await loadConfig(file, env)).warnings, [
      `${file} can be read by others and holds a key; run: chmod 600 ${file}`,
    ])
    await chmod(file, 0o600)
    assert.deepEqual((await loadConfig(file, env)).warnings, [])
  })
  it('gives none if its credentials are names of variables, as in a container', async () => {
    const file = join(folder, 'named.yml')
    const upstream = (named: string) =>
      `gateway_key: "\${GATEWAY}"\nupstreams: [{ name: a, base_url: "http://127.0.0.1:1", api_key: "${named}", styles: [messages] }]\n`
    const env = { GATEWAY: 'guard_0123456789abcdef', MODEL_KEY: 'sk-1' }
    await writeFile(file, upstream(`\${MODEL_KEY}`), { mode: 0o644 })
    assert.deepEqual((await loadConfig(file, env)).warnings, [])
    await writeFile(file, upstream('sk-in-the-file'))
    assert.match((await loadConfig(file, env)).warnings.join(), /can be read by others and holds a key/)
  })
  it('that is missing gives an error with the remedy', async () => {
    await assert.rejects(loadConfig(join(folder, 'none.yml'), {}), {
      code: 'INVALID_CONFIG',
      message: /none\.yml does not exist; "guard gateway run --init" writes one\.$/,
    })
  })
  it('is --config, else GUARD_CONFIG, else the file in the working directory', () => {
    assert.deepEqual(configFile('a.yml', { GUARD_CONFIG: 'b.yml' }, '/w'), { file: '/w/a.yml', named: true })
    assert.deepEqual(configFile(undefined, { GUARD_CONFIG: '/x/b.yml' }, '/w'), { file: '/x/b.yml', named: true })
    assert.deepEqual(configFile(undefined, { GUARD_CONFIG: '' }, '/w'), { file: '/w/guard-config.yml', named: false })
  })
})
