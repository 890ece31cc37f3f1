import assert from 'node:assert/strict'
import { after, before, describe, it, mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Gateway } from 'guard-gateway/core'
import { memoryBudget } from 'guard-gateway/plugins/memory-budget'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { idleHeap } from '../../../presets/default/idle-heap.ts'

/** Tells whether garbage that was made when it was called has been collected. */
const watch = (): (() => boolean) => {
  const garbage = new WeakRef({})
  return () => garbage.deref() === undefined
}

/** As in a process that was started with `--expose-gc`, which a test may set in its own. */
setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => Promise<void>

describe('the heap of an idle gateway', () => {
  before(() => {
    globalThis.gc = gc as typeof globalThis.gc
  })
  after(() => {
    globalThis.gc = undefined
  })
  it('is collected half a minute after the last use, not before and not again', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const gateway = await new Gateway().use(...foundation(), memory(), memoryBudget(), idleHeap).open()
      const part = gateway
        .service('memory_budget')
        .need()
        .part({ name: 'test', shrink: () => {} })
      for (const isCollected of [true, false, true, false]) {
        const isGone = watch()
        // what a reference was made for stays until the turn ends
        await setImmediate()
        if (!isCollected) part.hold(1)
        mock.timers.tick(30_000)
        assert.equal(isGone(), isCollected)
      }
      await gateway.close()
    } finally {
      mock.timers.reset()
    }
  })
})
