import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { redactor } from '../../../../plugins/redaction/redact.ts'

const redact = redactor()

/** Texts of a megabyte whose examination would take long: many names, views, passes. */
const hostile = ['xoxb-1-', 'password="', '{"password":"x"},', 'token:', 'A3-']

describe('what one call may cost', () => {
  it('is bounded: a text that costs more is hidden whole, the same on every machine', () => {
    for (const piece of hostile) {
      const text = piece.repeat(Math.ceil(1_048_000 / piece.length))
      assert.equal(redact.text(text), '[REDACTED:limit]', piece)
      assert.deepEqual(redact.value({ before: 'a', text }), { before: 'a', text: '[REDACTED:limit]' })
    }
  })
  it('starts over with the next call', () => {
    redact.text('xoxb-1-'.repeat(149_000))
    assert.equal(redact.text('plain words'), 'plain words')
  })
  it('does not examine a text of ten megabytes', () => {
    assert.equal(redact.text('password='.repeat(1_100_000)), '[REDACTED:limit]')
  })
  it('is enough for a long file of a program', () => {
    const text = 'export const nameOf = (record: Row): string => record.name ?? "none" // see rows.ts\n'.repeat(3_000)
    assert.equal(redact.text(text), text)
    assert.equal(redact.text(JSON.stringify({ text })), JSON.stringify({ text }))
  })
})
