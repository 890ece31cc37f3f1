import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Log } from '../../../plugins/http/log.ts'

const SECOND = 1_761_868_800_000

describe('log lines', () => {
  const writes: string[] = []
  let now = SECOND
  const log = new Log({ write: (text) => void writes.push(text) }, () => now)
  const lines = () =>
    writes.map((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )

  it('are gathered, each with the time at which it was said', () => {
    const times = [SECOND, SECOND + 7, SECOND + 999, SECOND + 1000, SECOND + 86_400_050, SECOND]
    for (const time of times) {
      now = time
      log.line('info', { status: 200 })
    }
    assert.equal(writes.length, 0)
    log.flush()
    log.flush()
    const [written = []] = lines()
    assert.equal(writes.length, 1)
    assert.deepEqual(
      written,
      times.map((time) => ({ time: new Date(time).toISOString(), level: 'info', status: 200 })),
    )
  })
  it('go out at once with an error, which is the last of them', () => {
    writes.length = 0
    log.line('info', { status: 200 })
    log.line('error', { code: 'INTERNAL' })
    const [written = []] = lines()
    assert.deepEqual(
      written.map(({ level }: { readonly level: string }) => level),
      ['info', 'error'],
    )
  })
  it('do not wait where there are many of them', () => {
    writes.length = 0
    for (let n = 0; n < 64; n++) log.line('info', { status: n })
    assert.deepEqual(
      lines().map((written) => written.length),
      [64],
    )
  })
})
