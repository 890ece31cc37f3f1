import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Drafts } from '../../../../plugins/policy/page/draft.ts'

const draft = { mode: 'shadow', version: 0, rules: [] }

describe('drafts of policies', () => {
  it('are fifty at most, the oldest goes first, also one that is read', () => {
    const drafts = new Drafts()
    const keep = (): string => drafts.keep({ project_id: 'p', draft, step: 'changed' }, 1)
    const [oldest, second] = [keep(), keep()]
    for (let n = 2; n < 50; n++) keep()
    assert.notEqual(drafts.of('p', oldest), undefined)
    assert.equal(drafts.of('q', oldest), undefined)
    keep()
    assert.equal(drafts.of('p', oldest), undefined)
    assert.notEqual(drafts.of('p', second), undefined)
  })
})
