import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { SecretFinder } from '../../../plugins/redaction/secrets.ts'

const SEED = { seed: 20261121, numRuns: 500 }
const secretsOf = (...values: readonly string[]): SecretFinder => {
  const secrets = new SecretFinder()
  for (const value of values) secrets.add(value)
  return secrets
}
const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('Secrets', () => {
  const value = 'p@ss/word+123?'
  const secrets = secretsOf('other-credential', value)
  it('holds a value as it stands, behind a scheme, in an address, in Basic, percent-encoded and in JSON', () => {
    for (const text of [
      value,
      `Bearer ${value}`,
      `x${value}y`,
      `Basic ${base64(`me:${value}`)}`,
      `Basic ${base64(`${value}:x`)}`,
      encodeURIComponent(value),
      encodeURIComponent(value).toLowerCase(),
    ]) {
      assert.equal(secrets.holds(text), true, text)
    }
    assert.equal(secrets.holds(Array.from(value, (sign) => `%${sign.charCodeAt(0).toString(16)}`).join('')), true)
    assert.equal(secretsOf('quote"back\\slash').holds(JSON.stringify({ a: 'quote"back\\slash' })), true)
  })
  it('does not hold other text, and nothing while it is empty', () => {
    for (const text of ['', 'Bearer other', value.slice(0, -1), value.toUpperCase(), base64('other'), '100% sure'])
      assert.equal(secrets.holds(text), false, text)
    assert.equal(new SecretFinder().holds('anything at all'), false)
    assert.equal(secretsOf('').holds(''), false)
  })
  it('finds base64 at each of the three offsets, in both alphabets', () => {
    for (const before of ['', 'a', 'ab', 'abc', 'abcd']) {
      for (const after of ['', 'z', 'zz']) {
        const bytes = Buffer.from(`${before}${value}${after}`)
        assert.equal(secrets.holds(bytes.toString('base64')), true)
        assert.equal(secrets.holds(bytes.toString('base64url')), true)
      }
    }
  })
  it('compares a short value whole only, in its forms', () => {
    const short = secretsOf('s3cr%t')
    for (const text of ['s3cr%t', 'Bearer s3cr%t', base64('s3cr%t'), 's3cr%25t'])
      assert.equal(short.holds(text), true, text)
    for (const text of ['xs3cr%t', 'the s3cr%t stands', 's3cr%tx']) assert.equal(short.holds(text), false, text)
    assert.deepEqual(short.find('s3cr%t', 0), [0, 6])
  })
  it('finds each occurrence where a search by indexOf does', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 8, maxLength: 12 })
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fc.array(fc.oneof(part, fc.constantFrom('a', 'b', '-', 'é')), { maxLength: 6 }),
        (values, pieces) => {
          const text = pieces.join('')
          const some = secretsOf(...values)
          const at = Math.min(...values.map((each) => text.indexOf(each)).filter((found) => found !== -1))
          assert.deepEqual(some.find(text, 0)?.[0] ?? Number.POSITIVE_INFINITY, at)
          const later = Math.min(...values.map((each) => text.indexOf(each, 3)).filter((found) => found !== -1))
          assert.deepEqual(some.find(text, 3)?.[0] ?? Number.POSITIVE_INFINITY, later)
        },
      ),
      SEED,
    )
  })
  it('gives no value away', () => {
    for (const shown of [
      inspect(secrets, { depth: 9, showHidden: true }),
      JSON.stringify(secrets),
      String(secrets),
      Object.keys(secrets).join(),
    ]) {
      assert.ok(!shown.includes('word+123') && !shown.includes('other-credential'))
    }
  })
})
