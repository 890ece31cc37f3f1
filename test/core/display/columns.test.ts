import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { columnLines } from 'guard-gateway/core'

describe('columnLines', () => {
  it('makes columns as wide as their widest cell, figures to the right', () => {
    const rows = [
      ['name', 'count', 'note'],
      ['a', '7', ''],
      ['longer', '1,200', 'x'],
    ]
    assert.deepEqual(columnLines(rows, new Set([1])), ['name    count  note', 'a           7', 'longer  1,200  x'])
  })

  it('has no lines for no rows', () => assert.deepEqual(columnLines([]), []))
})
