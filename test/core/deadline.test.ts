import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { within } from '../../core/deadline.ts'

describe('a deadline', () => {
  it('lets through what ends in time, values and errors alike', async () => {
    assert.equal(await within(1000, Promise.resolve(1), 'x'), 1)
    await assert.rejects(within(1000, Promise.reject(new Error('mine')), 'x'), /mine/)
  })
  it('throws for what never ends, and names it', async () => {
    await assert.rejects(within(1, new Promise(() => {}), 'decision'), { code: 'INTERNAL', message: /"decision"/ })
  })
})
