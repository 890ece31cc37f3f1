import assert from 'node:assert/strict'
import { test } from 'node:test'
import { benchCommand } from '../../../plugins/bench/command-bench.ts'
import { fakeIo } from '../../kit/io.ts'

const run = async (args: readonly string[], options: Record<string, unknown>) => {
  const io = fakeIo({ cwd: process.cwd() })
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
