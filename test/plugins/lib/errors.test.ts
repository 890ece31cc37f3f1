import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nearest } from '#lib/errors'

describe('nearest', () => {
  for (const [word, candidates, wanted] of [
    ['sessoins', ['sessions', 'serve'], 'sessions'],
    ['serv', ['sessions', 'serve'], 'serve'],
    ['quux', ['sessions', 'serve'], undefined],
    ['abc', ['a'], undefined],
    ['ab', ['abc'], undefined],
    ['word', [], undefined],
  ] as const) {
    it(`to ${word} of ${candidates.join(', ') || 'none'} is ${wanted}`, () => {
      assert.equal(nearest(word, candidates), wanted)
    })
  }

  it('is found for a shorter word where that is asked for, one letter apart', () => {
    assert.equal(nearest('id', ['i', 'serve'], 2), 'i')
    assert.equal(nearest('id', ['is', 'serve'], 2), 'is')
    assert.equal(nearest('id', ['as', 'serve'], 2), undefined)
    assert.equal(nearest('i', ['id'], 2), undefined)
  })
})
