import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fakeIo, mcpCheckConforms } from 'guard-gateway/test'
import { branch } from '../../examples/custom-check.ts'
import { main } from '../../presets/default/main.ts'

mcpCheckConforms(branch, {
  options: { arg: '/branch', allow: ['main', 'next'] },
  passes: { branch: 'next' },
  fails: { branch: 'release/9' },
})

const policy = `version: 1
rules:
  - id: push
    tools: [git_push]
    action: allow
    checks: [{ branch: { arg: /branch, allow: [next] } }]
tests:
  - { call: { tool: git_push, arguments: { branch: next } }, expect: allow }
  - { call: { tool: git_push, arguments: { branch: main } }, expect: deny }
  - { call: { tool: git_push, arguments: { branch: [next] } }, expect: deny }
`

test('a policy uses a check of one’s own where the configuration names its file', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-check-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(import.meta.dirname, '../../examples/custom-check.ts')
  await writeFile(
    join(folder, 'guard-config.yml'),
    `gateway_key: guard_0123456789abcdef\nplugins: [${JSON.stringify(file)}]\n`,
    { mode: 0o600 },
  )
  await writeFile(join(folder, 'policy.yml'), policy)
  const io = fakeIo({ cwd: folder })
  assert.equal(await main(['mcp', 'validate-policy', 'policy.yml'], io), 0, io.outText() + io.errText())
  assert.match(io.outText(), /tests: 3 passed/)
})
