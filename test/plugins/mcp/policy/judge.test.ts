import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { aCall, judged } from './kit.ts'

const winners = async (...given: Parameters<typeof judged>): Promise<string> => {
  const { action, winners: won } = await judged(...given)
  return `${action} ${won.map(({ rule_id }) => rule_id).join(' ')}`
}

describe('the strictest opinion wins', () => {
  const rule = (action: string, more: object = {}) => ({ id: action, tools: ['t'], action, ...more })
  const all = [
    rule('allow'),
    rule('shadow_deny'),
    rule('transform', { transform: { arguments: [{ set: { '/x': 1 } }] } }),
    rule('confirm'),
    rule('deny'),
  ]
  for (const [index, { id }] of all.entries()) {
    it(`${id} over what is weaker, whatever the order`, async () => {
      const some = all.slice(0, index + 1)
      assert.equal(await winners(some, aCall('t')), `${id} ${id}`)
      assert.equal(await winners(some.toReversed(), aCall('t')), `${id} ${id}`)
    })
  }
})
