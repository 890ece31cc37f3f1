import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { argumentHash } from '#lib/trace'

const same = (left: string, right: string): boolean => argumentHash('key', left) === argumentHash('key', right)

describe('hashes of arguments', () => {
  const spellings = [
    ['{"b":1,"a":2}', '{ "a": 2, "b": 1 }'],
    ['{"b":1.5000000000000000000,"a":2}', '{"a":2,"b":1.5}'],
    ['[0.1]', '[0.100000000000000000000]'],
    ['[100]', '[1E+2]'],
    ['[1e21]', '[1000000000000000000000]'],
    ['["\\u0041/"]', '["A\\/"]'],
    ['[0]', '[0e5]'],
    ['[-12.5e1]', '[-125]'],
  ] as const
  for (const [left, right] of spellings)
    it(`are equal for ${left} and ${right}`, () => assert.equal(same(left, right), true))

  const values = [
    ['[1e400]', '[null]'],
    ['[1e400]', '[-1e400]'],
    ['[5e-325]', '[0]'],
    ['[12345678901234567890]', '[12345678901234567891]'],
    ['[0.1]', '[0.1000000000000000055]'],
    ['[1e400]', '["1e400"]'],
    ['[-1.5e0]', '[1.5]'],
    [`[1e${'9'.repeat(40)}]`, `[1e${'9'.repeat(41)}]`],
    ['{"a":1}', '{"a":1,"b":null}'],
    ['["a"]', '["a "]'],
    ['["\\u00e9"]', '["e\\u0301"]'],
    ['{"__proto__":1e1}', '{}'],
  ] as const
  for (const [left, right] of values)
    it(`tell ${left.slice(0, 40)} from ${right.slice(0, 40)}`, () => assert.equal(same(left, right), false))

  it('take no longer for a number of a million digits than for a text', { timeout: 5_000 }, () => {
    const zeros = '0'.repeat(1_000_000)
    assert.equal(same(`[1${zeros}1]`, `[1${zeros}2]`), false)
    assert.equal(same(`[0.${zeros}]`, '[0]'), true)
  })
})
