import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BufferOwnership } from '../../../../plugins/lib/request-reader/buffer-ownership.ts'

type Step = 'sendStarted' | 'sendEnded' | 'settled'

/** What is left of an owned body after each of these steps. */
const leftAfter = (...steps: readonly Step[]): number[] => {
  const bodies = new BufferOwnership()
  const body = Buffer.allocUnsafeSlow(100)
  bodies.own(body)
  return steps.map((step) => {
    bodies[step](body)
    return body.length
  })
}

describe('an owned body', () => {
  it('is freed once its call is settled and it was sent, in either order', () => {
    assert.deepEqual(leftAfter('sendStarted', 'sendEnded', 'settled'), [100, 100, 0])
    assert.deepEqual(leftAfter('sendStarted', 'settled', 'sendEnded'), [100, 100, 0])
  })
  it('waits for every attempt to send it', () => {
    assert.deepEqual(
      leftAfter('sendStarted', 'sendEnded', 'sendStarted', 'settled', 'sendEnded'),
      [100, 100, 100, 100, 0],
    )
    assert.deepEqual(leftAfter('sendStarted', 'sendStarted', 'sendEnded', 'settled'), [100, 100, 100, 100])
  })
  it('stays where nobody says to have sent it', () => {
    assert.deepEqual(leftAfter('settled'), [100])
    assert.deepEqual(leftAfter('sendStarted', 'settled'), [100, 100])
  })
  it('is freed once', () => {
    assert.deepEqual(leftAfter('sendStarted', 'sendEnded', 'settled', 'settled', 'sendEnded'), [100, 100, 0, 0, 0])
  })
  it('is none that somebody else made', () => {
    const bodies = new BufferOwnership()
    const body = Buffer.allocUnsafeSlow(100)
    for (const step of ['sendStarted', 'sendEnded', 'settled'] as const) bodies[step](body)
    assert.equal(body.length, 100)
  })
})
