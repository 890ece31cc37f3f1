import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { outputOf } from '#lib/terminal'

/** Results that nobody takes before `drained`, and chunks that count how many were asked for. */
const slow = () => {
  const waiting: (() => void)[] = []
  const out = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void waiting.push(done) })
  const asked = { count: 0 }
  const content = Readable.from(
    (function* () {
      for (; asked.count < 100; asked.count++) yield 'chunk'
    })(),
    { highWaterMark: 1 },
  )
  return { out, asked, content, waiting }
}
const io = (cwd: string, out: NodeJS.WritableStream) => ({ out, err: out, env: {}, cwd })

describe('output of a command', () => {
  it('is written as fast as it is taken', async () => {
    const { out, asked, content, waiting } = slow()
    const write = await outputOf({}, io('/', out))
    const writing = write(content)
    await setImmediate()
    assert.ok(asked.count < 5, `${asked.count} chunks wait for nobody`)
    while (asked.count < 100 || waiting.length > 0) {
      waiting.shift()?.()
      await setImmediate()
    }
    await writing
  })

  it('ends where its reader leaves', async () => {
    const { out, asked, content } = slow()
    out.on('error', () => {})
    const writing = (await outputOf({}, io('/', out)))(content)
    await setImmediate()
    out.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    await writing
    assert.ok(asked.count < 5)
  })

  it('is a file of its owner alone that is there when it is complete, and replaces another only by force', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-output-'))
    try {
      const to = (options: object) => outputOf({ output: 'a.txt', ...options }, io(folder, process.stdout))
      const broken = Readable.from(
        (function* () {
          yield 'half'
          throw new Error('broken off')
        })(),
      )
      await assert.rejects(async () => (await to({}))(broken), /broken off/)
      assert.deepEqual(await readdir(folder), [])
      await (await to({}))(Readable.from(['whole']))
      assert.equal((await stat(join(folder, 'a.txt'))).mode & 0o777, 0o600)
      await assert.rejects(() => to({}), { code: 'USAGE' })
      await (await to({ force: true }))(Readable.from(['an', 'other']))
      assert.equal(await readFile(join(folder, 'a.txt'), 'utf8'), 'another')
      assert.deepEqual(await readdir(folder), ['a.txt'])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
