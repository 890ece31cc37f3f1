import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { main } from '../../../../presets/default/main.ts'
import { fakeIo } from '../../../kit/io.ts'
import { startMcp } from '../../../kit/mcp.ts'
import { asking, POLICY } from '../page/kit.ts'

it('guard mcp approvals rule prints the rule, and writes it where that is asked for', async () => {
  await using service = await startMcp({ policy: POLICY, backend: 'sqlite', storage: 'full_content_logging: true' })
  const id = await asking(await service.session(), { path: 'notes/a.md' })
  await service.gateway.close()
  const config =
    'gateway_key: guard_0123456789abcdef\nserver: { port: 1 }\nstorage: { file: guard.db, full_content_logging: true }\nmcp: { policy: policy.yml }\n'
  await writeFile(join(service.folder, 'guard-config.yml'), config, { mode: 0o600 })
  const guard = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd: service.folder })
    return { code: await main(['mcp', 'approvals', ...argv], io), out: io.outText(), err: io.errText() }
  }
  const narrow = await guard('rule', id)
  assert.equal(narrow.code, 0, narrow.err)
  assert.match(narrow.out, /^ {2}- id: write_file-like\n/)
  assert.match(narrow.out, /inside: \[ notes\/a\.md \]/)
  assert.match(narrow.out, /^# rule "ask-before-writing" is switched off/m)
  assert.match(narrow.out, /^# on record: 1 calls? of this tool, 1 would/m)
  assert.equal(await readFile(join(service.folder, 'policy.yml'), 'utf8'), POLICY)
  const wide = await guard('rule', id, '--wide', '--write')
  assert.match(wide.out, /inside: \[ notes \].*# wrote rule write_file-like into /s)
  assert.match(await readFile(join(service.folder, 'policy.yml'), 'utf8'), /- id: write_file-like\n/)
  assert.equal((await guard('rule')).code, 2)
})
