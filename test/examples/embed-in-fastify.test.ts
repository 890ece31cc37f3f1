import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const KEY = 'guard_0123456789abcdef'

test('an application of one’s own serves the gateway beside its own routes', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-embedded-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'guard-config.yml'), `gateway_key: ${KEY}\nserver: { port: 0 }\nupstreams: []\n`)
  const file = join(import.meta.dirname, '../../examples/embed-in-fastify.ts')
  // the code of the tests: what gateways compiled fits their flags of the engine alone
  const cached = `--import=${join(import.meta.dirname, '../kit/compile-cache.ts')}`
  const child = spawn(process.execPath, ['--conditions=guard-source', cached, file], {
    cwd: folder,
    env: { ...process.env, NODE_COMPILE_CACHE: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  context.after(() => {
    child.kill()
    return exited
  })
  const [address] = await Promise.race([once(child.stdout, 'data'), exited])
  const ask = (path: string, headers = {}) => fetch(new URL(path, String(address).trim()), { headers })
  assert.equal(await (await ask('/greeting')).text(), 'hello')
  assert.equal((await ask('/v1/models')).status, 401)
  const none = await (await ask('/v1/models', { 'x-api-key': KEY })).text()
  assert.match(none, /NO_UPSTREAM/)
  assert.match(none, /there is none\. Start the gateway with OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY/)
})
