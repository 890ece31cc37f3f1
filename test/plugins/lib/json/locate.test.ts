import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lineAndColumnAt } from '#lib/json'

const TEXT = '{"a": [1,\n  {"b/c": "x"}],\n "a": [2,\n   [3]]}'

describe('lineAndColumnAt', () => {
  for (const [path, line, column] of [
    [[], 1, 1],
    [['a'], 3, 7],
    [['a', 0], 3, 8],
    [['a', 1, 0], 4, 5],
    [['a', 9], 3, 7],
    [['a', 'name'], 3, 7],
    [['none', 0], 1, 1],
    [[0], 1, 1],
  ] as const) {
    it(`tells line and column of ${JSON.stringify(path)}, the last of what appears twice`, () => {
      assert.deepEqual(lineAndColumnAt(TEXT, path), { line, column })
    })
  }

  it('follows any depth, and blanks before the text', () => {
    const deep = `\n ${'['.repeat(1_000)}\n7${']'.repeat(1_000)}`
    assert.deepEqual(lineAndColumnAt(deep, new Array(1_000).fill(0)), { line: 3, column: 1 })
    assert.deepEqual(lineAndColumnAt(deep, []), { line: 2, column: 2 })
  })
})
