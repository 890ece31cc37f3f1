import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { foldName } from '#lib/json-rpc'

describe('names that look like others', () => {
  for (const name of [
    'Path',
    'PATH',
    'ｐａｔｈ',
    'pa\u200bth',
    'path\u0000',
    'pa\u00adth',
    'path\u202e',
    'pat\u{e0068}h',
    '\ufeffpath',
  ])
    it(`${JSON.stringify(name)} folds to path`, () => assert.equal(foldName(name), 'path'))

  it('folds what upper case makes equal', () => {
    assert.equal(foldName('argumentſ'), 'arguments')
    assert.equal(foldName('\u212aey'), 'key')
    assert.equal(foldName('ıd'), 'id')
  })
})
