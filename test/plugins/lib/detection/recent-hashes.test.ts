import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RecentHashes } from '#lib/detection'

describe('recent hashes', () => {
  it('tell what is new, zero and large values too', () => {
    const known = new RecentHashes()
    for (const hash of [0, 1, 2 ** 31, 2 ** 32 - 1, 64, 128]) known.add(hash)
    for (const hash of [0, 2 ** 31, 2 ** 32 - 1, 64, 128]) assert.equal(known.add(hash), false, String(hash))
    assert.equal(known.add(3), true)
  })
  it('know the last 4,096 at least, and forget what is older than 8,192', () => {
    const known = new RecentHashes()
    const hashOf = (n: number) => Math.imul(n + 1, 0x9e3779b1) >>> 0
    for (let n = 0; n < 20_000; n++) assert.equal(known.add(hashOf(n)), true)
    for (let n = 20_000 - 4096; n < 20_000; n++) assert.equal(known.add(hashOf(n)), false)
    assert.equal(known.add(hashOf(0)), true)
    assert.ok(known.young.byteLength + known.old.byteLength <= 65_536)
  })
  it('keep what is seen again', () => {
    const known = new RecentHashes()
    for (let n = 0; n < 30_000; n++) {
      known.add(n * 2 + 10)
      if (n % 3000 === 0) assert.equal(known.add(7), n === 0)
    }
  })
})
