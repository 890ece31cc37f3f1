import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, type StorageState, storage } from 'guard-gateway/core'
import { notify } from 'guard-gateway/plugins/notify'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/test'
import { KeptNotifier, rested } from '../kit.ts'

describe('a storage that fails', () => {
  it('is told of, and so is one that is full; one that is busy or well again is not', async () => {
    let change: (state: StorageState) => void = () => {}
    const shaky = storage({
      id: 'shaky',
      open: async (tables) => {
        const driver = await memory().open(tables)
        return new Proxy(driver, {
          get: (target, name) => {
            if (name === 'onState')
              return (listener: typeof change) => {
                change = listener
                return () => {
                  change = () => {}
                }
              }
            const value: unknown = Reflect.get(target, name)
            return typeof value === 'function' ? value.bind(target) : value
          },
        })
      },
    })
    const kept = new KeptNotifier()
    const gateway = new Gateway().use(
      ...foundation({ store: { backend: 'shaky' } }),
      shaky,
      kept.plugin,
      notify({ receivers: { team: { notifier: 'kept' } } }),
    )
    await gateway.open()
    for (const state of ['busy', 'failing', 'ok'] as const) change(state)
    await rested()
    assert.deepEqual(kept.texts, ['The storage fails: nothing is recorded, and what must be recorded is refused.'])
    assert.equal(kept.sent[0]?.url, '')
    change('full')
    await gateway.close()
    assert.match(kept.texts[1] ?? '', /^The storage is full: /)
  })
})
