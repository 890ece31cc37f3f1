import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { derivedId, newId } from 'guard-gateway/core'

describe('ids', () => {
  it('are unique and sort by time of making', () => {
    const ids = [1, 2, 2, 3, 1_800_000_000_000].flatMap((now) => [newId('x_', now), newId('x_', now)])
    assert.equal(new Set(ids).size, ids.length)
    assert.deepEqual(ids, ids.toSorted())
    for (const id of ids) assert.match(id, /^x_[0-9a-z]{26}$/)
  })
  it('are the same for the same parts, and differ where the border between parts does', () => {
    assert.match(derivedId('ses_', 'a', 'b'), /^ses_[a-z2-7]{24}$/)
    assert.equal(derivedId('ses_', 'a', 'b'), derivedId('ses_', 'a', 'b'))
    assert.notEqual(derivedId('ses_', 'ab', ''), derivedId('ses_', 'a', 'b'))
  })
})
