import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { hmacSha256 } from '../../../../plugins/lib/trace/hmac.ts'

describe('HMAC-SHA-256', () => {
  const keys = ['k', 'k'.repeat(63), 'k'.repeat(64), 'k'.repeat(65), 'ü'.repeat(50), '']
  const texts = ['', '{}', '{"path":"ü€😀"}', 'x'.repeat(10_000), 'a lone \ud800 surrogate']
  for (const key of keys)
    it(`is that of Node under a key of ${Buffer.byteLength(key)} bytes`, () => {
      for (const text of texts)
        assert.equal(hmacSha256(key, text), createHmac('sha256', key).update(text).digest('hex'))
    })

  it('keeps keys apart that are used in turns', () => {
    const [one, other] = [hmacSha256('one', 'text'), hmacSha256('other', 'text')]
    assert.notEqual(one, other)
    assert.deepEqual([hmacSha256('one', 'text'), hmacSha256('other', 'text')], [one, other])
  })
})
