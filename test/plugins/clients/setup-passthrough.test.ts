import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { KEY, workplace } from './kit.ts'

test('--passthrough puts the key in a header and keeps the client’s own login', async (context) => {
  const { cwd, command } = await workplace(context)
  const { out } = await command('setup', ['claude-code'], { passthrough: true, statusline: true })
  assert.match(out, /^ {2}note: +the key stands in this file, and the upstream needs auth: passthrough/m)
  const settings = JSON.parse(await readFile(join(cwd, 'profiles/claude-code/settings.json'), 'utf8'))
  assert.equal(settings.apiKeyHelper, undefined)
  assert.equal(settings.env.ANTHROPIC_AUTH_TOKEN, undefined)
  assert.match(settings.env.ANTHROPIC_CUSTOM_HEADERS, new RegExp(`x-guard-key: ${KEY}`))
  assert.match(settings.statusLine.command, /statusline --config/)
})

test('--passthrough keeps the login of Codex, writes no key, and names the needs of the upstream', async (context) => {
  const { cwd, command } = await workplace(context)
  const { out } = await command('setup', ['codex'], { passthrough: true })
  assert.match(
    out,
    /^ {2}note: .*auth: passthrough.*https:\/\/chatgpt\.com\/backend-api\/codex and paths: \{ responses: \/responses \}$/m,
  )
  const text = await readFile(join(cwd, 'profiles/codex/guard.config.toml'), 'utf8')
  assert.match(text, /^requires_openai_auth = true$/m)
  assert.match(text, /^env_http_headers = \{ "x-guard-key" = "GUARD_GATEWAY_KEY" \}$/m)
  assert.doesNotMatch(text, /env_key/)
  assert.ok(!text.includes(KEY))
})

test('--passthrough works for OpenCode and SDKs; a note says where it has no effect', async (context) => {
  const { cwd, command } = await workplace(context)
  const { out } = await command('setup', ['opencode', 'sdks', 'aider', 'cline', 'continue'], {
    passthrough: true,
    model: 'm',
  })
  const opencode = await readFile(join(cwd, 'profiles/opencode.json'), 'utf8')
  const { options } = JSON.parse(opencode.slice(opencode.indexOf('{'))).provider.guard
  assert.deepEqual(
    [options.apiKey, options.headers['x-guard-key']],
    ['{env:OPENAI_API_KEY}', '{env:GUARD_GATEWAY_KEY}'],
  )
  const env = await readFile(join(cwd, 'profiles/env'), 'utf8')
  assert.match(
    env,
    /^OPENAI_CUSTOM_HEADERS="x-guard-key: \$GUARD_GATEWAY_KEY"\nANTHROPIC_CUSTOM_HEADERS="x-guard-key: /m,
  )
  assert.doesNotMatch(env, /API_KEY=|AUTH_TOKEN=/)
  assert.equal(out.match(/^ {2}note: +--passthrough changes nothing here: it shows one key/gm)?.length, 3)
})
