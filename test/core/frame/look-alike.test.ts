import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { foldName, lookAlikesIn } from 'guard-gateway/core'

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

  it('finds keys that look like one beside them, or like an ASCII name', () => {
    assert.deepEqual(lookAlikesIn({ path: 1, Path: 2, other: { a: [{ 'x/y': 1, 'X/y': 2 }] } }), [
      '/path',
      '/Path',
      '/other/a/0/x~1y',
      '/other/a/0/X~1y',
    ])
    assert.deepEqual(lookAlikesIn({ 'pa\u200bth': 1 }), ['/pa\u200bth'])
    assert.deepEqual(lookAlikesIn(JSON.parse('{"__proto__":{"\uff50":1}}')), ['/__proto__/\uff50'])
  })

  it('leaves other keys alone', () => {
    for (const value of [
      { Path: 1 },
      { camelCase: 1, snake_case: 2 },
      { größe: 1, имя: 2 },
      [],
      'x',
      null,
      { a: [['b']] },
    ])
      assert.deepEqual(lookAlikesIn(value), [])
  })

  it('walks what is wide and deep', () => {
    let deep: unknown = { Path: 1, path: 2 }
    for (let level = 0; level < 5000; level++) deep = [deep]
    assert.equal(lookAlikesIn(deep).length, 2)
  })
})
