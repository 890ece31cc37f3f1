import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Progress } from '../../../../plugins/replay/commands/progress.ts'
import { fakeIo } from '../../../kit/io.ts'

const asked = (options: Readonly<Record<string, unknown>> = {}) => ({ args: [], options, rest: [] })

/** A progress of 1,000 bytes with a fake clock. */
const started = (options: Readonly<Record<string, unknown>> = {}, { tty = true, env = {}, total = 1_000 } = {}) => {
  const io = fakeIo({ tty, env })
  let now = 0
  const progress = new Progress('importing', total === 0 ? undefined : total, asked(options), io, () => now)
  const step = (ms: number, bytes: number): void => {
    now += ms
    progress.add(bytes)
  }
  return { io, progress, step }
}

describe('progress', () => {
  it('rewrites a terminal line and erases it at the end', () => {
    const { io, progress, step } = started()
    step(299, 100)
    assert.equal(io.errText(), '')
    step(1, 400)
    assert.equal(io.errText(), '\r' + 'importing ▕██████████░░░░░░░░░░▏ 50%  500 B/1.0 kB  1s left' + '\u001b[K')
    step(99, 100)
    step(1, 150)
    assert.equal(io.errText().split('\r').length, 3)
    assert.match(io.errText(), /▕███████████████░░░░░▏ 75% {2}750 B\/1\.0 kB/)
    progress.done()
    progress.done()
    assert.ok(io.errText().endsWith('\u001b[K\r\u001b[K'))
    assert.equal(io.outText(), '')
  })

  it('counts bytes, and prints the amount without a total', async () => {
    const { io, progress, step } = started({}, { total: 0 })
    const chunks = [Buffer.alloc(2_000), Buffer.alloc(1_500)]
    const passed: unknown[] = []
    for await (const chunk of progress.counted(
      (async function* () {
        yield* chunks
      })(),
    ))
      passed.push(chunk)
    assert.deepEqual(passed, chunks)
    step(300, 0)
    assert.equal(io.errText(), '\rimporting 3.5 kB\u001b[K')
  })

  it('writes ASCII if the locale lacks Unicode', () => {
    const { io, step } = started({}, { env: { LC_ALL: 'C' } })
    step(300, 500)
    assert.match(io.errText(), /\[##########\.{10}\] 50%/)
  })

  it('prints nothing without a terminal, or with --quiet', () => {
    const silent = [
      started({}, { tty: false }),
      started({}, { env: { CI: 'true' } }),
      started({}, { env: { TERM: 'dumb' } }),
      started({ quiet: true }),
      started({ json: true }),
      started({ progress: false }),
    ]
    for (const { io, progress, step } of silent) {
      step(1_000, 500)
      progress.done()
      assert.equal(io.errText(), '')
    }
  })
})
