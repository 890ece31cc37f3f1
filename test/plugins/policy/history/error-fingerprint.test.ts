import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorFingerprint, maskedMessage } from '../../../../plugins/policy/history/settle.ts'

const error = (message: string, type: string | null = 'rate_limit_error', code: string | null = null) => ({
  type,
  code,
  message,
})

describe('the print of an upstream error', () => {
  it('is the same whatever ids and numbers the message holds', () => {
    for (const [one, other] of [
      ['Try again in 20s.', 'Try again in 1.5s.'],
      ['request req_011CSHoEeqs5C35K2UUqR7Fy failed', 'request req_9x8y7z6w5v failed'],
      ['id 2f1b8c1e-0d7a-4c39-9b8e-3a1f0e5d6c7b', 'id 00000000-1111-2222-3333-444444444444'],
      ['at 0xdeadbeef12', 'at 0x00c0ffee99'],
      ['org-AbC123dEf456 used 10,000 of 30,000', 'org-xyz987654 used 9,999 of 30,000'],
    ] as const) {
      assert.equal(errorFingerprint(429, error(one)), errorFingerprint(429, error(other)), one)
    }
  })
  it('keeps words apart, also with underscores', () => {
    assert.notEqual(
      errorFingerprint(400, error('invalid_parameter')),
      errorFingerprint(400, error('unknown_attribute')),
    )
  })
  it('differs by status and by type', () => {
    assert.notEqual(errorFingerprint(429, error('x')), errorFingerprint(503, error('x')))
    assert.notEqual(errorFingerprint(429, error('x')), errorFingerprint(429, error('x', 'overloaded_error')))
  })
  it('takes the code where there is no type, and only there', () => {
    assert.equal(errorFingerprint(400, error('x', null, 'c')), errorFingerprint(400, error('x', 'c')))
    assert.equal(errorFingerprint(400, error('x', 't', 'c')), errorFingerprint(400, error('x', 't', 'd')))
  })
  it('can be made of a status alone', () =>
    assert.equal(errorFingerprint(502, null), errorFingerprint(502, error('', null))))
  it('examines the first 500 characters', () => {
    assert.equal(maskedMessage('word '.repeat(200)).length, 500)
    assert.equal(
      errorFingerprint(400, error(`${'a '.repeat(250)}b`)),
      errorFingerprint(400, error(`${'a '.repeat(250)}c`)),
    )
  })
  it('masks a long hostile message quickly', () => {
    assert.ok(maskedMessage('a_'.repeat(1_000_000)).length <= 500)
  })
})
