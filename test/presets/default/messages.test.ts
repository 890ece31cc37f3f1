import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { addSecrets } from '../../../presets/default/config/credentials.ts'
import { parseConfig } from '../../../presets/default/config.ts'
import { firstRunText, nextSteps, withheldFromServers } from '../../../presets/default/messages.ts'
import { fakeIo } from '../../kit/io.ts'

const first = { file: '/home/ann/work/guard-config.yml', key_line: 3, git: 'ignored' } as const
const cwd = '/home/ann/work'

test('a first start prints addresses, next steps and client settings', () => {
  const text = nextSteps(first, cwd, 'guard')('http://127.0.0.1:4711').join('\n')
  assert.match(text, /^Open http:\/\/127\.0\.0\.1:4711 to watch\./m)
  for (const command of ['guard playground run exact-loop --mode enforce', 'guard run -- claude', 'guard setup'])
    assert.ok(text.includes(`  ${command} `), command)
  assert.match(text, /OpenAI style, base URL +http:\/\/127\.0\.0\.1:4711\/v1$/m)
  assert.match(text, /Anthropic style, base URL +http:\/\/127\.0\.0\.1:4711$/m)
  assert.match(text, /line 3 of guard-config\.yml$/m)
})

test('a first start prints the location of the key, and the state of git', () => {
  assert.equal(
    firstRunText(first, cwd),
    'Wrote guard-config.yml with a new gateway key, readable by you only; the key is in line 3, gateway_key. Git ignores it already.',
  )
})

test('a start names the keys that MCP servers do not get, and the remedy', async () => {
  const server = (more: string) =>
    `gateway_key: guard_0123456789abcdef\nmcp: { servers: { pg: { transport: stdio, command: x, env: { GITHUB_TOKEN: ghp-of-the-server, DSN: "postgres://ann:pass-0123456789@db/shop" }, ${more} } } }\n`
  const gateway = new Gateway().use(...foundation())
  const { config } = await parseConfig(server(''), '/etc/guard-config.yml', {})
  addSecrets(gateway.secrets, config)
  const env = {
    HOME: '/h',
    OPENAI_API_KEY: 'sk-0123456789',
    GITHUB_TOKEN: 'ghp-of-the-server',
    COPY: 'ghp-of-the-server',
    DATABASE: 'ann:pass-0123456789',
  }
  assert.equal(
    withheldFromServers(config, gateway, fakeIo({ env })),
    `MCP servers get HOME, PATH and the like of this environment, and no keys: OPENAI_API_KEY, COPY, DATABASE. mcp.servers.<id>.env gives one back: { OPENAI_API_KEY: "\${OPENAI_API_KEY}" }.`,
  )
  assert.equal(withheldFromServers(config, gateway, fakeIo({ env: { HOME: '/h' } })), '')
  const { config: none } = await parseConfig('gateway_key: guard_0123456789abcdef\n', '/etc/guard-config.yml', {})
  assert.equal(withheldFromServers(none, gateway, fakeIo({ env })), '')
})
