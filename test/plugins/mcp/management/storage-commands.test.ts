import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { main } from '../../../../presets/default/main.ts'
import { fakeIo } from '../../../kit/io.ts'
import { callNeedingConsent, startKit, withFolder } from '../audit/records-kit.ts'

describe('where no gateway runs', () => {
  it('the commands ask its storage', () =>
    withFolder(async (cwd) => {
      const kit = await startKit({ folder: cwd })
      const { approval } = await callNeedingConsent(kit)
      await kit.close()
      const config = 'gateway_key: guard_0123456789abcdef\nserver: { port: 1 }\nstorage: { file: guard.db }\n'
      await writeFile(join(cwd, 'guard-config.yml'), config, { mode: 0o600 })
      const guard = async (...argv: readonly string[]) => {
        const io = fakeIo({ cwd })
        return { code: await main(['mcp', ...argv], io), out: io.outText(), err: io.errText() }
      }
      const listed = await guard('approvals', 'list')
      assert.equal(listed.code, 0, listed.err)
      assert.match(listed.out, new RegExp(`^write_file on fs +expired .* ${approval.id}$`, 'm'))
      const late = await guard('approvals', 'allow', approval.id)
      assert.equal(late.code, 1)
      assert.match(late.err, /has expired.*\(APPROVAL_EXPIRED\)/)
      const exported = await guard('export')
      assert.equal(JSON.parse(exported.out).approvals[0].id, approval.id)
      assert.equal((await guard('approvals', 'maybe')).code, 2)
    }))
})
