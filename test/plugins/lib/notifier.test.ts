import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, type Plugin } from 'guard-gateway/core'
import { notifier, notifierKind } from '#lib/notifier'

const said = notifier({
  id: 'said',
  schema: { type: 'object' },
  connect: () => ({ label: 'said', send: async () => ({ outcome: 'delivered' }) as const }),
})

describe('a notifier', () => {
  it('is a plugin that registers itself', () => {
    const gateway = new Gateway().use(said)
    assert.deepEqual(gateway.plugins(), ['notifier/said'])
    assert.equal(gateway.registry(notifierKind).need('said').id, 'said')
  })
  it('is refused at its line where it is none', () => {
    const make = notifier as unknown as (entry: object) => Plugin
    assert.throws(() => make({ id: 'odd', schema: {}, connect: 'no' }), /"connect" of notifier "odd" is of type string/)
    assert.throws(() => make({ id: 'odd', connect: () => undefined }), /"schema" of notifier "odd" is undefined/)
    assert.throws(() => make({ id: 'odd', schema: {}, secrets: 'url', connect: () => undefined }), /"secrets" .*a list/)
  })
})
