import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Pace } from '#lib/time-slice'
import { align, type Pair, type Tokens } from '../../../../../plugins/replay/read/compare/align.ts'

const tokens = (left: readonly number[], right: readonly number[]): Tokens => ({
  left: Int32Array.from(left),
  right: Int32Array.from(right),
})
const pairs = (left: readonly number[], right: readonly number[]): Promise<readonly Pair[]> =>
  align([tokens(left, right)], new Pace())

/** Length of a longest common subsequence, by the textbook. */
const commonLength = (left: readonly number[], right: readonly number[]): number => {
  let row = new Array<number>(right.length + 1).fill(0)
  for (const one of left) {
    const next = [0]
    for (const [at, other] of right.entries())
      next.push(one === other ? (row[at] ?? 0) + 1 : Math.max(next[at] ?? 0, row[at + 1] ?? 0))
    row = next
  }
  return row.at(-1) ?? 0
}

const isRising = (found: readonly Pair[]): boolean =>
  found.every(([left, right], at) => {
    const [before, under] = found[at - 1] ?? [-1, -1]
    return left > before && right > under
  })

const range = (length: number, of: (at: number) => number): number[] => Array.from({ length }, (_, at) => of(at))

describe('two sequences aligned', () => {
  it('are a longest common subsequence where they are short', async () => {
    const sequence = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(sequence, sequence, async (left, right) => {
        const found = await pairs(left, right)
        assert.ok(isRising(found))
        assert.ok(found.every(([one, other]) => left[one] === right[other]))
        assert.equal(found.length, commonLength(left, right))
      }),
      { seed: 5, numRuns: 300 },
    )
  })

  it('pair what a looser equality allows between the pairs of a stricter one', async () => {
    const strict = tokens([1, 2, 3], [1, 9, 3])
    assert.deepEqual(await align([strict], new Pace()), [
      [0, 0],
      [2, 2],
    ])
    assert.deepEqual(await align([strict, tokens([1, 2, 3], [1, 2, 3])], new Pace()), [
      [0, 0],
      [1, 1],
      [2, 2],
    ])
    assert.deepEqual(await align([], new Pace()), [])
  })

  it('stay together after thousands of inserted, lost and changed steps', async () => {
    const left = range(20_000, (at) => at)
    const right = left.flatMap((token) => (token % 7 === 0 ? [] : token % 11 === 0 ? [-token, token] : [token]))
    const found = await pairs(left, right)
    assert.ok(isRising(found))
    assert.equal(found.length, left.filter((token) => token % 7 !== 0).length)
  })

  it('find most of what long sequences without unique steps have in common', async () => {
    const left = range(20_000, (at) => (at * 7_919) % 13)
    const right = left.filter((_, at) => at % 50 !== 0)
    const found = await pairs(left, right)
    assert.ok(isRising(found))
    assert.ok(found.length > 0.95 * right.length, String(found.length))
  })

  it('take bounded time for what has nothing in common in order, and rest', async () => {
    let rests = 0
    let now = 0
    const pace = new Pace(() => (now += 1))
    pace.rest = async () => void rests++
    const left = range(50_000, (at) => (at * 7_919) % 101)
    const right = range(50_000, (at) => 100 - ((at * 104_729) % 101))
    const began = process.cpuUsage()
    const found = await align([tokens(left, right)], pace)
    const { user } = process.cpuUsage(began)
    assert.ok(isRising(found))
    assert.ok(rests > 10, String(rests))
    assert.ok(user < 10_000_000, `${user} µs`)
  })
})
