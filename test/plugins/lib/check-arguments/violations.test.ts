import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { CHECK_TIMED_OUT, findViolations } from '#lib/check-arguments'
import { ParserProcessError } from '#lib/parser-process'

const values = ['/a', '/b', '/c', '/d'].map((pointer) => ({ pointer }))
const found = { reason: 'is b', certain: true }
const late = { reason: 'cannot be judged: the check took too long', certain: false }

/** The time is still, but for what moves it. */
const withClock = async (run: (pass: (ms: number) => void) => Promise<void>): Promise<void> => {
  let now = 0
  const clock = mock.method(performance, 'now', () => now)
  try {
    await run((ms) => {
      now += ms
    })
  } finally {
    clock.mock.restore()
  }
}

describe('what a check objects to in values', () => {
  const objection = ({ pointer }: { pointer: string }) => (pointer === '/b' ? found : undefined)

  it('is told with the pointer of each, at once where it takes no time', () =>
    withClock(async () => {
      assert.deepEqual(findViolations(values, objection), [{ pointer: '/b', ...found }])
      assert.deepEqual(findViolations([], objection), [])
    }))
  it('is told later where one is judged elsewhere, in the order of the values', async () => {
    const findings = findViolations(values, (value) => (value.pointer < '/c' ? Promise.resolve(found) : found))
    assert.ok(findings instanceof Promise)
    assert.deepEqual(
      (await findings).map(({ pointer }) => pointer),
      ['/a', '/b', '/c', '/d'],
    )
  })
  it('lets others have their turn between values that take long', () =>
    withClock(async (pass) => {
      const order: string[] = []
      const findings = findViolations(values, ({ pointer }) => {
        order.push(pointer)
        setImmediate(() => order.push('other'))
        pass(5)
        return undefined
      })
      assert.deepEqual(await findings, [])
      assert.deepEqual(order.slice(0, 7), ['/a', 'other', '/b', 'other', '/c', 'other', '/d'])
    }))
  it('cannot be told of the next one when their time is over', () =>
    withClock(async (pass) => {
      const findings = findViolations(values, () => {
        pass(520)
        return undefined
      })
      assert.deepEqual(await findings, [{ pointer: '/c', ...late }])
      const steps = findViolations(values.slice(1, 2), (_value, isLate) => {
        while (!isLate()) pass(520)
        return CHECK_TIMED_OUT
      })
      assert.deepEqual(await steps, [{ pointer: '/b', ...late }])
    }))
  it('counts no work of others against them, up to a longest wait', () =>
    withClock(async (pass) => {
      const elsewhere = async () => {
        await Promise.resolve()
        pass(4_000)
        return undefined
      }
      const findings = findViolations(values, elsewhere)
      assert.deepEqual(await findings, [{ pointer: '/d', ...late }])
    }))
  it('cannot be told of one that was not judged elsewhere in time', async () => {
    const findings = await findViolations(values.slice(0, 2), ({ pointer }) =>
      pointer === '/a' ? Promise.reject(new ParserProcessError('timeout', 'no answer')) : found,
    )
    assert.deepEqual(findings, [
      { pointer: '/a', ...late },
      { pointer: '/b', ...found },
    ])
    await assert.rejects(async () => findViolations(values, () => Promise.reject(new Error('broken'))), /broken/)
  })
  it('is told of a hundred values at most', async () => {
    const many = Array.from({ length: 200 }, (_, index) => ({ pointer: `/${index}` }))
    assert.equal((await findViolations(many, () => found)).length, 100)
  })
})
