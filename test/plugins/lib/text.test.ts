import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  addTokens,
  cutBeforeRedaction,
  cutText,
  dropUnfinishedWord,
  queryTokens,
  sanitise,
  terminalLine,
  terminalText,
} from '../../../plugins/lib/text.ts'
import { character } from '../../kit/character.ts'

const SEED = { seed: 20261121, numRuns: 500 }
const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('a', ' ', '\0', '\ud83d', '\ude00', '😀', '\u202e', '\u001b', '['), character),
})

describe('sanitise', () => {
  it('replaces lone surrogates and U+0000', () => {
    assert.equal(sanitise('a\ud83db\0c'), 'a\ufffdb\ufffdc')
    assert.equal(sanitise('plain 😀'), 'plain 😀')
  })
  it('gives well-formed text without U+0000 of the same length, once and for all', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const result = sanitise(text)
        assert.ok(result.isWellFormed() && !result.includes('\0') && result.length === text.length)
        assert.equal(sanitise(result), result)
      }),
      SEED,
    )
  })
})

describe('cutting', () => {
  it('never splits a character', () => {
    assert.equal(cutText('ab😀c', 3), 'ab')
    assert.equal(cutText('ab😀c', 4), 'ab😀')
    assert.equal(cutText('abc', 3), 'abc')
    assert.equal(cutText('abc', 0), '')
    fc.assert(
      fc.property(anyText.map(sanitise), fc.nat(20), (text, max) => {
        const cut = cutText(text, max)
        assert.ok(cut.length <= max && cut.isWellFormed() && text.startsWith(cut))
        assert.ok(cut.length >= Math.min(text.length, max) - 1)
      }),
      SEED,
    )
  })
  it('drops the word a cut went through, at most 512 units of it', () => {
    assert.equal(dropUnfinishedWord('token is ghp_hal'), 'token is ')
    assert.equal(dropUnfinishedWord('line\n'), 'line\n')
    assert.equal(dropUnfinishedWord('x'.repeat(600)).length, 88)
    assert.equal(cutBeforeRedaction('one two three', 9), 'one two ')
    assert.equal(cutBeforeRedaction('one two', 9), 'one two')
  })
})

describe('terminal text', () => {
  it('loses colours, titles, links, controls and bidirectional marks', () => {
    assert.equal(
      terminalText('\u001b[31mred\u001b[0m \u001b]0;title\u0007x\u001b]8;;http://a\u001b\\link'),
      'red xlink',
    )
    assert.equal(terminalText('a\u202eb\u2066c\r\bd\u009b2Je'), 'abcd2Je')
    assert.equal(terminalText('tab\tline\n'), 'tab\tline\n')
    assert.equal(terminalLine('tab\tline\n\nnext'), 'tab line next')
  })
  it('holds no control a terminal obeys, whatever went in', () => {
    fc.assert(
      fc.property(anyText, (text) =>
        assert.doesNotMatch(
          terminalText(text),
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/,
        ),
      ),
      SEED,
    )
  })
})

describe('tokens', () => {
  const tokensOf = (text: string): readonly string[] => {
    const tokens = new Set<string>()
    addTokens(tokens, text)
    return [...tokens]
  }
  it('are lower-case words of letters, digits and underscores of any script, and the parts between underscores', () => {
    assert.deepEqual(tokensOf('Tool_Call-2: Größe, 東京 e\u0301t\u00e9!'), [
      'tool_call',
      'tool',
      'call',
      '2',
      'größe',
      '東京',
      'été',
    ])
    assert.deepEqual(tokensOf('__a__ ... '), ['__a__', 'a'])
    assert.deepEqual(tokensOf(''), [])
  })
  it('stop at the given number', () => {
    const into = new Set(['x'])
    addTokens(into, 'a b_c d', 3)
    assert.deepEqual([...into], ['x', 'a', 'b_c'])
  })
  it('of a query keep a trailing star, and all are found in the text they came from', () => {
    assert.deepEqual(queryTokens('Loop* exact_repeat  loop*'), ['loop*', 'exact_repeat'])
    assert.deepEqual(queryTokens('***'), [])
    fc.assert(
      fc.property(anyText, (text) => {
        const indexed = new Set(tokensOf(text))
        for (const token of queryTokens(text.replaceAll('*', ' '))) assert.ok(indexed.has(token))
      }),
      SEED,
    )
  })
})
