import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { conversation, detectorConforms, evidence, step, user } from 'guard-gateway/test'
import { sameAnswer } from '../../examples/custom-detector.ts'

const nothing = (word: string) => step('grep', { word }, 'no matches')
const shown = (...items: ReturnType<typeof step>) => evidence(sameAnswer, 'a', { turns: conversation(items).turns })
const four = [...nothing('a'), ...nothing('b'), ...nothing('c'), ...nothing('d')]

detectorConforms(sameAnswer, shown(...four))

describe('same_answer: 4 in 8', () => {
  it('speaks when a tool answers the same to four different questions', () => {
    assert.deepEqual(sameAnswer.detect(shown(...four)), {
      message: 'grep gave the same answer 4 times',
      evidence: 'history',
      count: 4,
      tool: 'grep',
    })
  })
  it('is silent below the threshold, of other answers and of empty ones', () => {
    assert.equal(sameAnswer.detect(shown(...four.slice(2))), undefined)
    assert.equal(sameAnswer.detect(shown(...four, ...step('grep', { word: 'e' }, 'a.ts:1'))), undefined)
    const silent = Array.from({ length: 5 }, (_, n) => step('wait', { n }, '')).flat()
    assert.equal(sameAnswer.detect(shown(...silent)), undefined)
  })
  it('lets the user continue', () =>
    assert.equal(sameAnswer.detect(shown(...four, user('Look elsewhere.'))), undefined))
})
