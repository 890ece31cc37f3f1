import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '../../..')

/** Tells each module of the main thread and of workers that is loaded. */
const LOG = `import { registerHooks } from 'node:module'
import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
registerHooks({ load(url, context, next) { writeSync(2, (isMainThread ? 'main ' : 'worker ') + url + '\\n'); return next(url, context) } })`

/** What `gateway run` loads before it listens, by thread. */
const loadedBeforeListening = async (): Promise<{
  readonly main: readonly string[]
  readonly worker: readonly string[]
}> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-start-'))
  const preload = `--import=data:text/javascript,${encodeURIComponent(LOG)}`
  const bin = join(root, 'presets/default/bin.js')
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const gateway = spawn(
    process.execPath,
    ['--conditions=guard-source', preload, bin, 'gateway', 'run', '--port', '0'],
    { cwd: folder, env: { PATH, NODE_COMPILE_CACHE, HOME: folder } },
  )
  try {
    let said = ''
    const listening = /http:\/\/127\.0\.0\.1:\d+/
    for await (const chunk of gateway.stderr) {
      said += String(chunk)
      if (listening.test(said)) break
    }
    assert.match(said, listening)
    const lines = said.slice(0, said.search(listening)).split('\n')
    const by = (thread: string): readonly string[] =>
      lines.filter((line) => line.startsWith(`${thread} file:`)).map((line) => line.slice(thread.length + 1))
    return { main: by('main'), worker: by('worker') }
  } finally {
    gateway.kill('SIGTERM')
    await once(gateway, 'close')
    await rm(folder, { recursive: true, force: true })
  }
}

describe('the start of the gateway', () => {
  it('loads no part that something else has to ask for first', async () => {
    const { main, worker } = await loadedBeforeListening()
    const all = [...main, ...worker]
    for (const name of [
      'typebox',
      'fastify',
      'protobufjs',
      'libpg-query',
      'web-tree-sitter',
      're2js',
      'pg',
      'picomatch',
      'd3-array',
    ])
      assert.ok(!all.some((url) => url.includes(`/node_modules/${name}/`)), name)
    for (const part of [
      'plugins/http/routes.ts',
      'plugins/mcp/judge/',
      'plugins/mcp/policy/compile.ts',
      'plugins/mcp/relay/',
      'plugins/replay/routes.ts',
      'plugins/ui/routes.ts',
      'plugins/mcp-checks/shell/',
      'plugins/mcp-result-checks/injection/',
      'plugins/mcp/results/',
      'plugins/mcp-transports/http/',
      'plugins/mcp-transports/stdio/',
      'plugins/playground/run-steps.ts',
      'plugins/clients/start-agent.ts',
      'plugins/mcp/server-stdio/run-proxy.ts',
      'plugins/policy/shared/share.ts',
      'presets/default/doctor/run.ts',
    ])
      assert.ok(!main.some((url) => url.includes(`/${part}`)), part)
    assert.ok(main.length > 100 && main.length <= 1_350, `${main.length} modules in the main thread`)
    assert.ok(worker.length > 10 && worker.length <= 350, `${worker.length} modules in workers`)
  })
})
