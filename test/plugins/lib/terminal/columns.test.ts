import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { columnLines } from '#lib/terminal'

describe('columnLines', () => {
  it('makes columns as wide as their widest cell, figures to the right', () => {
    const rows = [
      ['name', 'count', 'note'],
      ['a', '7', ''],
      ['longer', '1,200', 'x'],
    ]
    assert.deepEqual(columnLines(rows, new Set([1])), ['name    count  note', 'a           7', 'longer  1,200  x'])
  })

  it('leaves out what is spared first until the lines are no longer than a terminal is wide', () => {
    const rows = [
      ['name', 'count', 'note'],
      ['longer', '7', 'x'],
    ]
    const fit = (width?: number) => columnLines(rows, new Set([1]), { width, spare: [2, 1] })[0]
    assert.deepEqual(
      [fit(), fit(19), fit(18), fit(12), fit(1)],
      ['name    count  note', 'name    count  note', 'name    count', 'name', 'name'],
    )
  })

  it('has no lines for no rows', () => assert.deepEqual(columnLines([]), []))
})
