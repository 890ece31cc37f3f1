import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Plugin } from 'guard-gateway/core'
import { learnFromFirstRun } from './heap.js'

/**
 * Lets V8 give memory back when a burst of requests is over, and when the memory budget has emptied its stores. V8 itself collects only
 * when it allocates, so that an idle program keeps what it had under load.
 */
export const idleHeap: Plugin = {
  name: 'idle-heap',
  requires: ['memory-budget'],
  apply(gateway) {
    gateway.hooks.listen.tap('idle-heap', learnFromFirstRun)
    gateway.hooks.open.tap('idle-heap', () => gateway.service('memory_budget').need().onQuiet(collectGarbage))
  },
}

/**
 * Collects once, which takes about 1 ms per MB in use. After that the memory reducer of V8 compacts the heap in steps and gives its pages
 * back within ten seconds. The flavour `last-resort` of `gc` does the same at once, with a pause three times as long.
 */
const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc')
  const gc: () => void = runInNewContext('gc')
  gc()
}
