import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { createGateway } from 'guard-gateway/presets/default'
import { auditPlaces } from '../../../../presets/default/config/audit-places.ts'
import { mcpOptions } from '../../../../presets/default/config/mcp-options.ts'
import { parseConfig } from '../../../../presets/default/config.ts'

const parse = (places: string, env = {}) =>
  parseConfig(`gateway_key: guard_0123456789abcdef\nmcp: { audit_export: [${places}] }`, '/w/guard-config.yml', env)

describe('configured places for audit records', () => {
  it('are files from the folder of the configuration, and receivers with their defaults', async () => {
    const { config } = await parse(
      `{ file: log/audit.jsonl, projects: [shop] }, { url: "https://c.example", headers: { api-key: "\${TOKEN}" } }`,
      { TOKEN: 'tok_0123456789' },
    )
    assert.deepEqual(auditPlaces(config), [
      { file: '/w/log/audit.jsonl', max_queue: 2_048, projects: ['shop'] },
      {
        ...{ url: 'https://c.example', headers: { 'api-key': 'tok_0123456789' } },
        ...{ compression: 'gzip', timeout_ms: 10_000, max_queue: 2_048 },
      },
    ])
    const gateway = await createGateway(config)
    assert.ok(gateway.secrets.holds('tok_0123456789'))
    assert.ok(gateway.plugins().includes('audit-push'))
    assert.ok(!(await createGateway((await parse('')).config)).plugins().includes('audit-push'))
  })
  it('are files that no tool may name', async () => {
    const { config } = await parse('{ file: audit.jsonl }')
    assert.ok(mcpOptions(config).own_files?.includes('/w/audit.jsonl'))
  })
  for (const [place, message] of [
    ['{}', '[0]: the key url or file is missing'],
    ['{ url: "https://c.example", file: a }', '[0]: has both url and file; give each an entry of its own'],
    ['{ url: collector:4318 }', '[0].url: expected an address that begins with http:// or https://'],
    ['{ file: "" }', '[0].file: must not be empty'],
    ['{ files: a }', '[0].files: unknown key. Did you mean "file"?'],
    ['{ url: "https://c.example", headers: { Host: x } }', '[0].headers.Host: is set by the gateway itself'],
  ] as const)
    it(`are refused with their path: ${place}`, async () => {
      const error = await parse(place).then(
        () => assert.fail('was accepted'),
        (thrown: unknown) => thrown,
      )
      assert.ok(error instanceof GuardError, String(error))
      assert.equal(error.message.replace(/^guard-config\.yml:2:\d+: mcp\.audit_export/, ''), message)
    })
  it('on other machines give a warning without encryption', async () => {
    const { warnings } = await parse('{ url: "http://c.example:4318" }, { url: "http://127.0.0.1:4318" }, { file: a }')
    assert.deepEqual(
      warnings.filter((text) => text.includes('encryption')),
      ['Audit records are sent without encryption: http://c.example:4318.'],
    )
  })
})
