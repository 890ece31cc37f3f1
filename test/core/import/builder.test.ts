import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ImportWarning, RunBuilder } from 'guard-gateway/core'

describe('a run that is read', () => {
  it('names a hundred spans with unknown parents, and counts the rest', () => {
    const place = { path: [], line: 1 }
    const builder = new RunBuilder({ trace_id: 't' }, place)
    for (let n = 0; n < 5_000; n++) builder.addSpan({ id: `s${n}`, name: 'n', parent_id: 'gone' }, place)
    const warnings: ImportWarning[] = []
    const { spans } = builder.finish('', warnings)
    assert.equal(spans.length, 5_000)
    assert.ok(spans.every(({ parent_id }) => parent_id === null))
    assert.equal(warnings.length, 101)
    assert.equal(warnings[0]?.line, 1)
    assert.deepEqual(warnings.at(-1), {
      code: 'orphan_parent',
      message: '4900 more spans of run "t" name parents that are not in it.',
    })
  })
})
