import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createGateway, loadConfig } from 'guard-gateway'
import { commandKind } from 'guard-gateway/lib/command'
import { fakeIo, startService } from 'guard-gateway/test'
import { waiting } from '../../examples/custom-command.ts'

test('the command tells which sessions wait, while the gateway runs', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-waiting-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'guard-config.yml')
  await writeFile(file, 'gateway_key: guard_0123456789abcdef\nstorage: { file: guard.db }\n', { mode: 0o600 })
  await using service = await startService({ backend: 'sqlite', folder })
  const run = async (options: object) => {
    const gateway = await createGateway((await loadConfig(file, {})).config, [waiting])
    const io = fakeIo({ cwd: folder })
    const code = await gateway
      .registry(commandKind)
      .need('waiting')
      .run({ args: [], options: { ...options }, rest: [] }, io)
    return [code, io.outText()] as const
  }

  const body = { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] }
  await service.request('POST', '/v1/chat/completions', body, { 'x-guard-session-id': 'mine' })
  assert.deepEqual(await run({}), [0, ''])

  await service.request('POST', '/api/sessions/mine/pause', { reason: 'look at this' })
  const [code, text] = await run({})
  assert.equal(code, 1)
  assert.match(text, /^ses_\S+ {2}look at this\n$/)
  assert.deepEqual(await run({ project: 'another' }), [0, ''])
})
