import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createGateway, loadConfig } from 'guard-gateway'
import { commandKind } from 'guard-gateway/lib/command'
import { fakeIo, startService } from 'guard-gateway/test'
import { models } from '../../examples/custom-page-and-command.ts'

const body = { model: 'm-<1>', messages: [{ role: 'user', content: 'Hello' }] }

test('the page shows what was used, and is in the navigation', async () => {
  await using service = await startService({ plugins: [models] })
  await service.request('POST', '/v1/chat/completions', body)
  await service.request('POST', '/v1/chat/completions', body)
  const page = await service.request('GET', '/models-used', undefined, { accept: 'text/html' })
  assert.equal(page.status, 200)
  assert.match(page.text, /<td>m-&lt;1&gt;<\/td><td>2<\/td><td>[1-9]\d*<\/td>/)
  assert.match(page.text, /<a [^>]*href="\/models-used"[^>]*>/)
})

test('the command prints the same beside a gateway that runs', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-models-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'guard-config.yml')
  await writeFile(file, 'gateway_key: guard_0123456789abcdef\nstorage: { file: guard.db }\n', { mode: 0o600 })
  await using service = await startService({ plugins: [models], backend: 'sqlite', folder })
  await service.request('POST', '/v1/chat/completions', body)

  const { config } = await loadConfig(file, {})
  const gateway = await createGateway(config, [models])
  const io = fakeIo({ cwd: folder })
  assert.equal(await gateway.registry(commandKind).need('models').run({ args: [], options: {}, rest: [] }, io), 0)
  assert.match(io.outText(), /^m-<1> {2}1 requests {2}[1-9]\d* tokens\n$/)
})
