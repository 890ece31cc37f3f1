import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findUnsummed } from '#lib/paging'

const NEWEST = 1_000_000

/** How old the last record is that is examined, in milliseconds; there is one a millisecond, a hundred a page. */
const reach = async (...lateAges: readonly number[]): Promise<number> => {
  let reached = 0
  const late = new Set(lateAges.map((age) => NEWEST - age))
  const pages = async function* () {
    for (let age = 0; ; age += 100) yield Array.from({ length: 100 }, (_, index) => NEWEST - age - index)
  }
  await findUnsummed(
    pages(),
    (at) => at,
    async (page) => {
      reached = NEWEST - (page.at(-1) ?? 0)
      return page.filter((at) => late.has(at))
    },
  )
  return reached
}

describe('a look back', () => {
  it('reads records up to 5 s older than the newest, and than each that sums lack', async () => {
    assert.equal(await reach(), 5_099)
    assert.equal(await reach(0), 5_099)
    assert.equal(await reach(4_000), 9_099)
    assert.equal(await reach(4_000, 1_000, 8_500), 13_599)
    assert.equal(await reach(7_000), 5_099)
  })
  it('never reads records over 30 s older than the newest', async () => {
    assert.equal(await reach(...Array.from({ length: 20 }, (_, index) => index * 3_000)), 30_099)
  })
  it('ends with the records', async () => {
    const seen: number[] = []
    const pages = async function* () {
      yield [3, 2]
      yield [1]
      yield []
    }
    await findUnsummed(
      pages(),
      (at) => at,
      async (page) => {
        seen.push(...page)
        return page
      },
    )
    assert.deepEqual(seen, [3, 2, 1])
  })
})
