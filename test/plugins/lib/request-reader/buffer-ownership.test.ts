import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OwnedBodies } from '../../../../plugins/lib/request-reader/buffer-ownership.ts'

type Step = 'sending' | 'sent' | 'settled'

/** What is left of an owned body after each of these steps. */
const leftAfter = (...steps: readonly Step[]): number[] => {
  const bodies = new OwnedBodies()
  const body = Buffer.allocUnsafeSlow(100)
  bodies.own(body)
  return steps.map((step) => {
    bodies[step](body)
    return body.length
  })
}

describe('an owned body', () => {
  it('is freed once its call is settled and it was sent, in either order', () => {
    assert.deepEqual(leftAfter('sending', 'sent', 'settled'), [100, 100, 0])
    assert.deepEqual(leftAfter('sending', 'settled', 'sent'), [100, 100, 0])
  })
  it('waits for every attempt to send it', () => {
    assert.deepEqual(leftAfter('sending', 'sent', 'sending', 'settled', 'sent'), [100, 100, 100, 100, 0])
    assert.deepEqual(leftAfter('sending', 'sending', 'sent', 'settled'), [100, 100, 100, 100])
  })
  it('stays where nobody says to have sent it', () => {
    assert.deepEqual(leftAfter('settled'), [100])
    assert.deepEqual(leftAfter('sending', 'settled'), [100, 100])
  })
  it('is freed once', () => {
    assert.deepEqual(leftAfter('sending', 'sent', 'settled', 'settled', 'sent'), [100, 100, 0, 0, 0])
  })
  it('is none that somebody else made', () => {
    const bodies = new OwnedBodies()
    const body = Buffer.allocUnsafeSlow(100)
    for (const step of ['sending', 'sent', 'settled'] as const) bodies[step](body)
    assert.equal(body.length, 100)
  })
})
