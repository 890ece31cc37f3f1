import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { anyGlob, glob } from '#lib/glob'

describe('glob', () => {
  for (const [pattern, yes, no] of [
    ['claude-*', ['claude-', 'claude-x'], ['claude', 'xclaude-1']],
    ['*', ['', 'anything'], []],
    ['**', ['', 'a'], []],
    ['m-1', ['m-1'], ['m-11', 'xm-1', '']],
    ['a*a', ['aa', 'aba'], ['a', 'ab']],
    ['*-mini*', ['x-mini', '-mini-2'], ['mini']],
    ['a*b*b', ['abb', 'a.b.b'], ['ab', 'abc']],
    ['a.c', ['a.c'], ['abc']],
  ] as const) {
    it(`${pattern} matches ${yes.join(', ')} and not ${no.join(', ')}`, () => {
      for (const text of yes) assert.ok(glob(pattern)(text), text)
      for (const text of no) assert.ok(!glob(pattern)(text), text)
    })
  }
  it('agrees with the regular expression of the same meaning', () => {
    const word = fc.stringMatching(/^[ab*]{0,8}$/)
    const text = fc.stringMatching(/^[ab]{0,10}$/)
    fc.assert(
      fc.property(word, text, (pattern, given) => {
        assert.equal(glob(pattern)(given), new RegExp(`^${pattern.replaceAll('*', '[ab]*')}$`).test(given))
      }),
      { seed: 5, numRuns: 500 },
    )
  })
})

describe('anyGlob', () => {
  it('matches what one of the patterns does, and nothing without patterns', () => {
    const matches = anyGlob(['gpt-*', 'o3'])
    assert.deepEqual(['gpt-5', 'o3', 'o4', ''].map(matches), [true, true, false, false])
    assert.ok(!anyGlob([])(''))
  })
})
