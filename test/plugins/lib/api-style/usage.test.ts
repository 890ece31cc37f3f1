import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noUsage, totalled } from 'guard-gateway/core'
import { isUsageEmpty, noCounts, noteCounts, usageOf } from '#lib/api-style'

describe('usage', () => {
  it('sums up what is known and clamps what is below zero', () => {
    const usage = totalled({
      input_tokens: -5,
      cache_read_tokens: 3,
      cache_write_tokens: 2,
      output_tokens: 7,
      reasoning_tokens: 4,
    })
    assert.equal(usage.input_tokens, 0)
    assert.equal(usage.total_tokens, 12)
    assert.deepEqual(totalled({}), noUsage)
  })

  it('keeps the last count that was said; null and absent say nothing, 0 says 0', () => {
    const paths = { a: ['a'], b: ['details', 'b'] } as const
    const counts = noCounts(paths)
    assert.ok(isUsageEmpty(counts))
    noteCounts(counts, paths, { a: 4, details: { b: 2 } })
    noteCounts(counts, paths, { a: null, details: null })
    noteCounts(counts, paths, { a: 0 })
    noteCounts(counts, paths, null)
    assert.deepEqual(counts, { a: 0, b: 2 })
    assert.ok(!isUsageEmpty(counts))
  })

  it('is the same whether the count of the input includes what was read from a cache, or not', () => {
    const counts = { read: 3, written: 2, output: 7, reasoning: 4 }
    const usage = { ...noUsage, input_tokens: 5, cache_read_tokens: 3, cache_write_tokens: 2, output_tokens: 7 }
    const whole = { ...usage, reasoning_tokens: 4, total_tokens: 17 }
    assert.deepEqual(usageOf({ ...counts, input: 10 }, { includes_cache: true }), whole)
    assert.deepEqual(usageOf({ ...counts, input: 5 }), whole)
  })

  it('sums up what was written into caches where only their kinds are said, and is null where nothing is', () => {
    const usage = usageOf({ input: 1, written: null, written5m: 2, written1h: 3 })
    assert.deepEqual([usage?.cache_write_tokens, usage?.total_tokens], [5, 6])
    assert.equal(usageOf({ input: null, output: null }), null)
  })

  it('takes no count from what is no number', () => {
    const paths = { a: ['a'] } as const
    const counts = noCounts(paths)
    for (const a of ['5', Number.NaN, Number.POSITIVE_INFINITY, 1e300, 2 ** 53, [], {}, true])
      noteCounts(counts, paths, { a })
    assert.ok(isUsageEmpty(counts))
    noteCounts(counts, paths, { a: -3.5 })
    assert.equal(counts.a, 0)
  })
})
