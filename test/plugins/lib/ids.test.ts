import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { derivedId, elideProcessPart, isReadableId, newId, shortId } from '#lib/ids'

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
  it('that are cut still tell one from the next', () => {
    const [one, other] = [newId('ses_', 1_800_000_000_000), newId('ses_', 1_800_000_000_000)]
    assert.notEqual(shortId(one), shortId(other))
    assert.match(shortId(one), /^ses_…[0-9a-v]{7}…$/)
    assert.equal(elideProcessPart(`playground-${one}`), `playground-${one.slice(0, -12)}…`)
    assert.equal(shortId('ses_k6eieym4w2cblopvejc7ya12'), 'ses_k6eieym4…')
    assert.equal(shortId('ses_of_mine'), 'ses_of_mine')
    for (const own of ['0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0', 'a name of somebody'])
      assert.equal(elideProcessPart(own), own)
  })
  it('are readable if they are words, however long', () => {
    for (const id of [
      'task-b',
      'fix-rounding-in-cart-271',
      'internationalization',
      'a name of somebody',
      'night 2026-11-26',
    ])
      assert.ok(isReadableId(id), id)
    for (const id of [
      '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0',
      newId('ses_', 1_800_000_000_000),
      derivedId('ses_', 'a'),
      'x-deadbeef0123',
    ])
      assert.ok(!isReadableId(id), id)
  })
})
