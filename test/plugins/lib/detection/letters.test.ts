import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { letterCounts, lettersIn, lettersOf, rememberTextHashes, textHash } from '#lib/detection'

describe('marks as letters', () => {
  it('are equal where the marks are, whatever came before', () => {
    assert.equal(lettersOf([['x'], [], ['y', 'x'], ['y', 'y']]), 'A,,BA,B')
    assert.equal(lettersOf([[], ['y', 'x'], ['y']]), ',AB,A')
    assert.deepEqual(lettersIn('A,,BA,B'), ['A', '', 'BA', 'B'])
    assert.deepEqual(lettersIn(undefined), [])
  })
  it('leaves out what is after 62 different ones', () => {
    const many = Array.from({ length: 64 }, (_, n) => [`m${n}`])
    const groups = lettersIn(lettersOf(many))
    assert.deepEqual(groups.slice(61), ['9', '', ''])
    assert.equal(new Set(groups.slice(0, 62)).size, 62)
  })
  it('counts each letter of the last turn, up to an end', () => {
    const groups = ['A', 'B', 'A', '', 'AB']
    const counted = (ends: (back: number) => boolean, reach = 5) =>
      letterCounts(groups, reach, ends).map(({ letter, steps }) => [letter, ...steps])
    assert.deepEqual(
      counted(() => false),
      [
        ['A', 0, 2, 4],
        ['B', 0, 3],
      ],
    )
    assert.deepEqual(
      counted((back) => back === 1),
      [
        ['A', 0],
        ['B', 0],
      ],
    )
    assert.deepEqual(
      counted(() => false, 3),
      [
        ['A', 0, 2],
        ['B', 0],
      ],
    )
    assert.deepEqual(
      letterCounts([], 5, () => false),
      [],
    )
  })
  it('keeps the marks of the last turns', () => {
    const turns: (readonly string[])[] = []
    for (const mark of ['a', 'b', 'c']) rememberTextHashes(turns, [mark], 2)
    assert.deepEqual(turns, [['b'], ['c']])
  })
  it('knows a text by 48 bits', () => {
    assert.match(textHash('a'), /^[0-9a-f]{12}$/)
    assert.notEqual(textHash('a'), textHash('b'))
  })
})
