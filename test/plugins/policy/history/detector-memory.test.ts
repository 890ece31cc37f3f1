import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DetectorMemory } from '../../../../plugins/policy/history/detector-memory.ts'

describe('what detectors remember of conversations', () => {
  it('is one for each session, conversation and detector', () => {
    const memories = new DetectorMemory()
    const first = memories.of('ses_a', 't', 'novelty_stall')
    assert.equal(memories.of('ses_a', 't', 'novelty_stall'), first)
    assert.notEqual(memories.of('ses_b', 't', 'novelty_stall'), first)
    assert.notEqual(memories.of('ses_a', 'u', 'novelty_stall'), first)
    assert.notEqual(memories.of('ses_a', 't', 'mine'), first)
  })
  it('is dropped, least recently used first, beyond 1,024 conversations', () => {
    const memories = new DetectorMemory()
    const old = memories.of('ses_a', 'old', 'd')
    const used = memories.of('ses_a', 'used', 'd')
    for (let n = 0; n < 1023; n++) {
      memories.of('ses_b', `t${n}`, 'd')
      assert.equal(memories.of('ses_a', 'used', 'd'), used)
    }
    assert.notEqual(memories.of('ses_a', 'old', 'd'), old)
  })
})
