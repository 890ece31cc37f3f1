import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Deadlines } from '../../../core/pipeline/deadline.ts'

const deadlines = new Deadlines()
const within = <T>(ms: number, what: string, run: (done: (error: unknown, value?: T) => void) => void) =>
  deadlines.withDeadline<T>(ms, what, {}, run)

const never = () => {}
const from =
  <T>(work: Promise<T>) =>
  (done: (error: unknown, value?: T) => void): void =>
    void work.then((value) => done(null, value), done)

describe('a deadline', () => {
  it('lets through what ends in time, values and errors alike', async () => {
    assert.equal(await within(1000, 'x', from(Promise.resolve(1))), 1)
    await assert.rejects(async () => within(1000, 'x', from(Promise.reject(new Error('mine')))), /mine/)
  })
  it('gives at once what is there at once, and only the first that it is told', () => {
    const told = within<number>(1000, 'x', (done) => {
      done(null, 1)
      done(null, 2)
    })
    assert.equal(told, 1)
    assert.throws(() => within(1000, 'x', (done) => done(new Error('mine'))), /mine/)
  })
  it('throws for what never ends, and names it', async () => {
    await assert.rejects(async () => within(1, 'decision', never), { code: 'INTERNAL', message: /"decision"/ })
  })
  it('leaves out the time in which the process slept', async () => {
    const answer = within<string>(400, 'x', (done) => {
      setTimeout(() => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700)
        setTimeout(() => done(null, 'in time'), 10)
      }, 0)
    })
    assert.equal(await answer, 'in time')
  })
  it('keeps watch over all that waits, in whatever order it ends', async () => {
    const late = Promise.withResolvers<string>()
    const overdue = Promise.resolve(within(1, 'late', from(late.promise)))
    const others = Array.from({ length: 5 }, () => Promise.withResolvers<number>())
    const watched = others.map(({ promise }) => within(60_000, 'other', from(promise)))
    const lost = Promise.resolve(within(1, 'lost', never))
    await assert.rejects(overdue, /"late"/)
    await assert.rejects(lost, /"lost"/)
    late.resolve('too late')
    for (const index of [2, 0, 4, 1, 3]) others[index]?.resolve(index)
    assert.deepEqual(await Promise.all(watched), [0, 1, 2, 3, 4])
  })
})
