import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'

const core = import.meta.resolve('guard-gateway/core')
const source = `import { detector } from '${core}'
import { commandKind } from '${import.meta.resolve('guard-gateway/lib/command')}'
export const lines = detector({ id: 'max_lines', code: 'LIMIT_LINES', version: '1', kind: 'budget', defaults: { threshold: 1, window_size: 1 }, detect: () => undefined })
export const greet = { name: 'greet', apply: (gateway) => gateway.registry(commandKind).add({ id: 'greet', summary: 'greet', run: async () => 0 }) }`

describe('commands without a configuration, if plugins are configured', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-own-'))
    await writeFile(join(folder, 'mine.mjs'), source)
  })
  after(() => rm(folder, { recursive: true }))

  const guard = async (config: string, ...argv: readonly string[]) => {
    await writeFile(join(folder, 'guard-config.yml'), config, { mode: 0o600 })
    const io = fakeIo({ cwd: folder })
    return { code: await main(argv, io), out: io.outText(), err: io.errText() }
  }
  const usable = 'gateway_key: guard_0123456789abcdef\nplugins: [./mine.mjs]'

  it('include the codes and commands of plugins', async () => {
    const explained = await guard(usable, 'explain', 'limit-lines')
    assert.deepEqual([explained.code, explained.err], [0, ''])
    assert.equal(
      explained.out,
      'LIMIT_LINES  HTTP 429  guard_block\nA rule of type max_lines has matched.\nRaise the threshold of the rule, or begin a new session.\n',
    )
    const { out } = await guard(usable, 'completion', 'bash')
    assert.match(out, /\bgreet\b/)
    assert.match(out, /\bLIMIT_LINES\b/)
  })
  it('work if a plugin fails', async () => {
    const { code, out, err } = await guard('plugins: [./absent.mjs]', 'explain', 'INVALID_CONFIG')
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, /^INVALID_CONFIG /)
  })
})
