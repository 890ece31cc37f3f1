import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { coolDown } from '../../../plugins/upstream/cool-down.ts'

const NOW = Date.parse('2026-11-27T00:00:00Z')
const DAY = 86_400_000

describe('how long an upstream or a key rests', () => {
  for (const [name, value, wanted] of [
    ['retry-after', '30', 30_000],
    ['Retry-After', ' 7 ', 7_000],
    ['retry-after', '0', 0],
    ['retry-after', '1.5', 1_500],
    ['retry-after', 'Fri, 27 Nov 2026 00:02:00 GMT', 120_000],
    ['retry-after', 'Friday, 27-Nov-26 00:02:00 GMT', 120_000],
    ['retry-after', 'Thu, 26 Nov 2026 00:02:00 GMT', 0],
    ['retry-after', '99999999', DAY],
    ['retry-after-ms', '1500', 1_500],
    ['x-ratelimit-reset-requests', '1s', 1_000],
    ['x-ratelimit-reset-tokens', '6m0s', 360_000],
    ['x-ratelimit-reset-tokens', '1h2m3.5s', 3_723_500],
    ['x-ratelimit-reset-tokens', '120ms', 120],
    ['x-ratelimit-reset', String(NOW / 1_000 + 45), 45_000],
    ['x-ratelimit-reset', String(NOW + 45_000), 45_000],
    ['x-ratelimit-reset', '12', 12_000],
    ['anthropic-ratelimit-tokens-reset', '2026-11-27T00:00:20Z', 20_000],
    ['anthropic-ratelimit-unified-reset', String(NOW / 1_000 + 600), 600_000],
    ['ratelimit-reset', '9', 9_000],
    ['ratelimit', '"default";r=0;t=11', 11_000],
  ] as const)
    it(`is ${wanted} ms by ${name}: ${value}`, () => assert.equal(coolDown(429, [name, value], NOW), wanted))

  it('follows the more exact of two, and a retry before any limit', () => {
    assert.equal(coolDown(429, ['retry-after', '2', 'retry-after-ms', '1200'], NOW), 1_200)
    assert.equal(coolDown(429, ['x-ratelimit-reset-tokens', '9m', 'retry-after', '2'], NOW), 2_000)
  })
  it('follows the longest of the limits that are used up, and none of which something is left', () => {
    const headers = ['x-ratelimit-remaining-requests', '99', 'x-ratelimit-reset-requests', '1h']
    headers.push('x-ratelimit-remaining-tokens', '0', 'x-ratelimit-reset-tokens', '4s')
    headers.push('x-ratelimit-remaining', '0', 'x-ratelimit-reset', '2')
    assert.equal(coolDown(429, headers, NOW), 4_000)
  })
  it('is a default where nothing can be read, longer for a key that is refused', () => {
    for (const value of ['', 'soon', '-5', '1e3', 'NaN', '9 lives', '0x10', '٣'])
      assert.equal(coolDown(429, ['retry-after', value, 'x-ratelimit-reset', value], NOW), 30_000, value)
    assert.equal(coolDown(401, [], NOW), 300_000)
    assert.equal(coolDown(402, [], NOW), 300_000)
  })
})
