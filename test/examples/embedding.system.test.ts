import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'

const KEY = 'guard_0123456789abcdef'
const examples = join(import.meta.dirname, '../../examples')
// the code of the tests: what gateways compiled fits their flags of the engine alone
const cached = `--import=${join(import.meta.dirname, '../kit/compile-cache.ts')}`

/** An example in an empty folder with a configuration alone, and the port that it listens on. */
const started = async (context: TestContext, file: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-embedded-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'guard-config.yml'), `gateway_key: ${KEY}\nserver: { port: 0 }\nupstreams: []\n`)
  const child = spawn(process.execPath, ['--conditions=guard-source', cached, join(examples, file)], {
    cwd: folder,
    env: { ...process.env, NODE_COMPILE_CACHE: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  context.after(() => {
    child.kill('SIGKILL')
    return exited
  })
  const [said] = await Promise.race([once(child.stdout, 'data'), exited])
  const [, port] = /\bport: (\d+)|:(\d+)$/m.exec(String(said))?.filter(Boolean) ?? []
  assert.ok(port !== undefined, `${file} printed ${said}`)
  return { child, exited, url: `http://127.0.0.1:${port}` }
}

describe('an application of one’s own serves the gateway beside its own routes', () => {
  for (const framework of ['fastify', 'express', 'hono', 'node-http'])
    it(framework, async (context) => {
      const { child, exited, url } = await started(context, `embed-in-${framework}.ts`)
      const get = (path: string, headers = {}) => fetch(new URL(path, url), { headers })
      assert.equal(await (await get('/greeting')).text(), 'hello')
      assert.equal((await get('/v1/models')).status, 401)
      const none = await (await get('/v1/models', { 'x-api-key': KEY })).text()
      assert.match(none, /NO_UPSTREAM/)
      assert.match(none, /there is none\. Start the gateway with OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY/)
      assert.match(await (await get('/replay/')).text(), /<title>[^<]*Replay/)
      const demo = await fetch(new URL('/api/demo/run', url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url },
        body: '{"scenario":"exact-loop","mode":"enforce"}',
      })
      assert.match(await demo.text(), /"decision":"block"/)
      assert.equal((await get('/of-nobody')).status, 404)
      child.kill('SIGTERM')
      assert.deepEqual(await exited, [0, null])
    })
})
