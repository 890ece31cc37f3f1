import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { redaction } from 'guard-gateway/plugins/redaction'
import { patternFinders } from '../../../../presets/default/config/patterns.ts'

describe('configured patterns', () => {
  it('redact only their matches', () => {
    const { redact } = new Gateway().use(redaction({ finders: patternFinders(['TICKET-\\d+', 'room \\w+']) }))
    const text = redact.text('see TICKET-12, TICKET-13 in room blue, not TICKET-x')
    assert.doesNotMatch(text, /TICKET-1|blue/)
    assert.match(text, /^see \[REDACTED:\w+\], \[REDACTED:\w+\] in \[REDACTED:\w+\], not TICKET-x$/)
  })
  it('search from an offset, and skip empty matches', () => {
    const [find] = patternFinders(['\\b(ab)?'])
    assert.deepEqual(find?.('xx ab ab', 4), [6, 8])
    assert.equal(find?.('xx yy', 0), undefined)
  })
  it('take linear time', () => {
    const [find] = patternFinders(['(a+)+$'])
    assert.equal(find?.(`${'a'.repeat(5_000)}b`, 0), undefined)
  })
})
