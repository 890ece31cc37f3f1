import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { usage } from '../../../bench/options.ts'
import { benchCommand } from '../../../plugins/bench/command-bench.ts'
import { fakeIo } from '../../kit/io.ts'

const run = async (args: readonly string[], options: Record<string, unknown>) => {
  // the code of the tests: what gateways compiled fits their flags of the engine alone
  const io = fakeIo({ cwd: process.cwd(), env: { NODE_COMPILE_CACHE: undefined } })
  const code = await benchCommand.run({ args, options, rest: [] }, io)
  return { code, out: io.outText(), err: io.errText() }
}

test('guard bench runs the bench with the same flags', async () => {
  const { code, out } = await run(['exact-third-blocks'], {
    suite: 'vectors',
    json: true,
    failIf: ['vectors.must.pass<3'],
  })
  assert.equal(code, 0)
  const { summaries, failures } = JSON.parse(out)
  assert.deepEqual(failures, [])
  assert.deepEqual(summaries[0].vectors, { must: { pass: 3, total: 3 }, should: { pass: 0, total: 0 } })
})

test('guard bench tells what it cannot do as the bench does', async () => {
  const { code, err } = await run([], { suite: 'speed' })
  assert.equal(code, 2)
  assert.match(err, /^There is no suite "speed"/)
  const known = /there is (.*)\.$/m.exec(err)?.[1]?.split(', ') ?? []
  assert.ok(known.length > 0)
  for (const suite of known) assert.ok(benchCommand.options?.['--suite <names>']?.includes(suite), suite)
})

test('guard bench takes every flag of the bench', () => {
  const flags = [...usage.matchAll(/--[a-z-]+/g)].map(([flag]) => flag).filter((flag) => flag !== '--json')
  const taken = Object.keys(benchCommand.options ?? {}).map((option) => option.split(' ')[0])
  assert.deepEqual(
    flags.filter((flag) => !taken.includes(flag)),
    [],
  )
  assert.ok(flags.includes('--peer') && flags.includes('--price'))
})

test('a bench ends with the command that started it, however that ends', { timeout: 60_000 }, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-end-'))
  context.after(() => rm(folder, { recursive: true }))
  const server = createServer().listen(0, '127.0.0.1')
  context.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const detector = join(folder, 'never.mjs')
  const measures = `connect(${port}, '127.0.0.1').on('close', () => process.exit())\nawait new Promise(() => {})\n`
  await writeFile(detector, `import { connect } from 'node:net'\n${measures}`)
  const bin = join(import.meta.dirname, '../../../presets/default/bin.js')
  const words = ['--conditions=guard-source', bin, 'bench', '--suite', 'vectors', '--detector', detector]
  const command = spawn(process.execPath, words, { stdio: 'ignore' })
  const [measuring] = (await once(server, 'connection')) as [Socket]
  context.after(() => measuring.destroy())
  const ended = once(measuring.on('error', () => {}).resume(), 'close')
  command.kill('SIGKILL')
  await ended
})
