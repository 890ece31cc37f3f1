import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { threadId } from 'node:worker_threads'
import { OffThread, OffThreadTimeout } from 'guard-gateway/lib/off-thread'
import type { Answer, Task } from './work.ts'

const address = new URL('./work.ts', import.meta.url).href
const started = (options?: { limit_ms?: number; idle_ms?: number }) => new OffThread<Task, Answer>(address, options)

describe('work in a thread of its own', () => {
  it('is done elsewhere, one task after another, in one thread', async () => {
    const apart = started()
    const answers = await Promise.all(['a', 'b', 'c'].map((say) => apart.run({ say })))
    assert.deepEqual(
      answers.map(({ said, before }) => [said, before]),
      [
        ['a', 0],
        ['b', 1],
        ['c', 2],
      ],
    )
    assert.equal(new Set(answers.map(({ thread }) => thread)).size, 1)
    assert.notEqual(answers[0]?.thread, threadId)
  })
  it('rejects with what it throws, and continues', async () => {
    const apart = started()
    const failing = apart.run({ fail: 'no such thing' })
    const next = apart.run({ say: 'a' })
    await assert.rejects(failing, /no such thing/)
    assert.equal((await next).said, 'a')
  })
  it('that never ends is ended with its thread; the next one gets another', async () => {
    const apart = started({ limit_ms: 3_000 })
    const first = await apart.run({ say: 'a' })
    await assert.rejects(apart.run({ spin: true }), OffThreadTimeout)
    const next = await apart.run({ say: 'b' })
    assert.deepEqual([next.said, next.before], ['b', 0])
    assert.notEqual(next.thread, first.thread)
  })
  it('rejects what it was doing when its thread ends, and does the next in another', async () => {
    const apart = started()
    const [ended, next] = [apart.run({ exit: true }), apart.run({ say: 'b' })]
    await assert.rejects(ended, /thread ended/)
    assert.deepEqual([(await next).said, (await next).before], ['b', 0])
  })
  it('rejects where there is no such module', async () => {
    const apart = new OffThread<Task, Answer>(new URL('./absent.ts', import.meta.url).href)
    await assert.rejects(apart.run({ say: 'a' }), /absent/)
  })
  it('keeps no thread for long that has nothing to do', async () => {
    const apart = started({ idle_ms: 0 })
    await apart.run({ say: 'a' })
    assert.ok(apart.isUp)
    while (apart.isUp) await new Promise(setImmediate)
    assert.equal((await apart.run({ say: 'b' })).before, 0)
  })
})
