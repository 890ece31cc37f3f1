import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvLine } from '../../../plugins/recorder/aggregates.ts'

describe('csvLine', () => {
  it('quotes text, and leaves numbers literal and null empty', () =>
    assert.equal(csvLine(['a', 1, -2.5, null, '']), '"a",1,-2.5,,""\r\n'))
  it('doubles quotes and retains commas and line ends', () =>
    assert.equal(csvLine(['say "hi",\nnow']), '"say ""hi"",\nnow"\r\n'))

  for (const sign of ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']) {
    it(`puts an apostrophe before text that begins with ${JSON.stringify(sign)}`, () => {
      assert.equal(csvLine([`${sign}HYPERLINK`]), `"'${sign}HYPERLINK"\r\n`)
    })
  }
  it('ignores leading blanks', () => assert.equal(csvLine(['  \u00a0=1+1']), '"\'  \u00a0=1+1"\r\n'))
  it('does not change signs inside text', () => assert.equal(csvLine(['gpt-5+x', "it's"]), '"gpt-5+x","it\'s"\r\n'))
})
