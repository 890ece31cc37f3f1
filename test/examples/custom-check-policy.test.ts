import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fakeIo } from 'guard-gateway/test'
import { main } from '../../presets/default/main.ts'
import { blocksOf } from '../kit/guide.ts'

test('the policy of the guide uses a check of one’s own where the configuration names its file', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-check-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(import.meta.dirname, '../../examples/custom-check.ts')
  await writeFile(
    join(folder, 'guard-config.yml'),
    `gateway_key: guard_0123456789abcdef\nplugins: [${JSON.stringify(file)}]\n`,
    { mode: 0o600 },
  )
  const guide = readFileSync(join(import.meta.dirname, '../../plugins/mcp-checks/README.md'), 'utf8')
  const policy = blocksOf(guide, 'yaml').find((text) => text.startsWith('version: 1'))
  await writeFile(join(folder, 'policy.yml'), policy ?? '')
  const io = fakeIo({ cwd: folder })
  assert.equal(await main(['mcp', 'validate-policy', 'policy.yml'], io), 0, io.outText() + io.errText())
  assert.match(io.outText(), /tests: 3 passed/)
})
