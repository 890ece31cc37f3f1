import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createGateway, loadConfig } from 'guard-gateway/presets/default'
import { ownPluginKind } from '#lib/plugin-options'

const options = `{
  type: 'object',
  properties: {
    id: { type: 'string', default: 'main' },
    region: { type: 'string', enum: ['eu-1', 'us-1'] },
    retries: { type: 'integer', minimum: 0, maximum: 5, default: 2 },
    pin: { type: 'string', writeOnly: true },
    sign: { type: 'object', properties: { secret_key: { type: 'string' }, scope: { type: 'string', default: 'all' } }, required: ['secret_key'] },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['region'],
}`
const files = {
  'plain.mjs': "export const plain = { name: 'plain', apply() {} }",
  'mine.mjs': `export const mine = { options: ${options}, create: (options) => ({ name: 'mine/' + options.id, apply(gateway) { gateway.health.set('mine/' + options.id, () => options) } }) }`,
  'fixed.mjs':
    "export const fixed = { options: { type: 'object', properties: { note: { type: 'string' } } }, create: () => ({ name: 'fixed', apply() {} }) }",
  'two.mjs':
    "const one = { options: { type: 'object' }, create: () => ({ name: 'x', apply() {} }) }\nexport const a = one\nexport const b = { ...one }",
  'broken.mjs':
    "export const broken = { options: { type: 'object', properties: { a: { type: 'nonsense' } } }, create: () => ({ name: 'x', apply() {} }) }",
  'throws.mjs':
    "export const throws = { options: { type: 'object', properties: { password: { type: 'string' } } },\ncreate: ({ password }) => { throw new Error('no such ' + password) } }",
  'nothing.mjs': "export const nothing = { options: { type: 'object' }, create: () => ({ name: 'x' }) }",
}

describe('options of plugin files', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-options-'))
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const start = async (plugins: string, env: Record<string, string> = {}) => {
    const file = join(folder, 'guard-config.yml')
    await writeFile(file, `gateway_key: guard_0123456789abcdef\nstorage: { backend: memory }\nplugins:\n${plugins}`, {
      mode: 0o600,
    })
    const { config, refuse } = await loadConfig(file, env)
    return createGateway(config, [], refuse)
  }
  const refused = async (plugins: string, message: RegExp) => {
    await assert.rejects(start(plugins), (error: Error & { code: string }) => {
      assert.equal(error.code, 'INVALID_CONFIG')
      assert.match(error.message, message)
      return true
    })
  }

  it('reach the plugin with defaults and values of the environment, which are redacted everywhere', async () => {
    const gateway = await start(
      [
        '  - ./plain.mjs',
        '  - use: ./mine.mjs',
        `    with: { region: eu-1, pin: "\${PIN}", sign: { secret_key: "\${SECRET}" }, labels: { team: x } }`,
      ].join('\n'),
      { PIN: 'a-pin-of-the-provider', SECRET: 'abcdefghijklmnop' },
    )
    assert.deepEqual(gateway.health.get('mine/main')?.(), {
      id: 'main',
      region: 'eu-1',
      retries: 2,
      pin: 'a-pin-of-the-provider',
      sign: { secret_key: 'abcdefghijklmnop', scope: 'all' },
      labels: { team: 'x' },
    })
    assert.doesNotMatch(gateway.redact.text('a-pin-of-the-provider and abcdefghijklmnop'), /a-pin|abcdef/)
    assert.deepEqual(
      [...gateway.registry(ownPluginKind)].map(({ id, given }) => [id, given]),
      [
        ['plain', []],
        ['mine/main', ['region', 'pin', 'sign', 'labels']],
      ],
    )
  })
  it('are as many as there are entries, where the names differ', async () => {
    const twice = (id: string) =>
      `  - { use: ./mine.mjs, with: { region: eu-1 } }\n  - { use: ./mine.mjs, with: { region: us-1, id: ${id} } }`
    const gateway = await start(twice('other'))
    assert.deepEqual(gateway.plugins().slice(-2), ['mine/main', 'mine/other'])
    await refused(
      twice('main'),
      /^guard-config\.yml:5:5: plugins\[1\]: .*mine\.mjs cannot be applied: .*Plugin "mine\/main" is applied twice\.$/,
    )
  })
  it('that are wrong are told with file, line, column and what there is, never with the value', async () => {
    await refused(
      '  - { use: ./mine.mjs, with: { region: eu-2 } }',
      /^guard-config\.yml:4:32: plugins\[0\]\.with\.region: expected one of eu-1, us-1\./,
    )
    await refused(
      '  - use: ./mine.mjs\n    with:\n      region: eu-1\n      retrys: 3',
      /^guard-config\.yml:7:7: plugins\[0\]\.with\.retrys: unknown key\. Did you mean "?retries"?\?/,
    )
    await refused(
      '  - use: ./mine.mjs\n    with: { region: eu-1, sign: { secret_key: 5, key: s3cr3t } }',
      /plugins\[0\]\.with\.sign\.secret_key: expected text, found a number\n|plugins\[0\]\.with\.sign\.key: unknown key/,
    )
    await refused(
      '  - { use: ./mine.mjs, with: { region: eu-1, retries: 9 } }',
      /:4:46: plugins\[0\]\.with\.retries: expected at most 5$/,
    )
    await refused('  - { use: ./mine.mjs, with: {} }', /:4:\d+: plugins\[0\]\.with: the key region is missing$/)
    await refused(
      '  - ./mine.mjs',
      /:4:5: plugins\[0\]: .*mine\.mjs takes options \(use: and with:\): the key region is missing$/,
    )
    await refused(
      `  - { use: ./mine.mjs, with: { region: "\${ABSENT_REGION}" } }`,
      /the environment variable ABSENT_REGION is not set/,
    )
  })
  it('need a plugin that takes them', async () => {
    await start('  - ./fixed.mjs')
    await start('  - { use: ./fixed.mjs }')
    await start('  - { use: ./plain.mjs }')
    await refused(
      '  - { use: ./plain.mjs, with: { a: 1 } }',
      /:4:\d+: plugins\[0\]\.with: .*plain\.mjs takes no options: remove "with"\.$/,
    )
    await refused(
      '  - { use: ./two.mjs, with: {} }',
      /two\.mjs exports several plugins with options; a file has at most one\./,
    )
    await refused('  - ./broken.mjs', /broken\.mjs has a schema of options that cannot be used: /)
    await refused('  - ./nothing.mjs', /nothing\.mjs cannot be created: create\(\) gives no plugin/)
  })
  it('are written as the schema of the configuration says', async () => {
    await refused('  - 5', /plugins\[0\]: expected text or a map of keys, found a number$/)
    await refused('  - ""', /plugins\[0\]: must not be empty$/)
    await refused('  - { with: {} }', /plugins\[0\]: the key use is missing$/)
    await refused('  - { use: ./plain.mjs, wiht: {} }', /plugins\[0\]\.wiht: unknown key\. Did you mean "?with"?\?/)
    await refused('  - { use: ./plain.mjs, with: [] }', /plugins\[0\]\.with: expected a map of keys, found a list$/)
    await refused(
      '  - { use: ./absent.mjs, with: {} }',
      /absent\.mjs cannot be loaded as a plugin: there is no such file\.$/,
    )
  })
})
