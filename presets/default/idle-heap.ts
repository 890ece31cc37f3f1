import type { Plugin } from 'guard-gateway/core'

/**
 * Lets V8 give memory back when a burst of requests is over, and when the memory budget has emptied its stores. V8 itself collects only
 * when it allocates, so that an idle program keeps what it had under load.
 */
export const idleHeap: Plugin = {
  name: 'idle-heap',
  requires: ['memory-budget'],
  apply(gateway) {
    gateway.hooks.open.tap('idle-heap', () => gateway.service('memory_budget').need().onQuiet(collectGarbage))
  },
}

/**
 * Collects once, which takes about 1 ms per MB in use, where the process was started with `--expose-gc` (`restart.js`). After that the memory
 * reducer of V8 compacts the heap in steps and gives its pages back within ten seconds.
 */
const collectGarbage = (): void => {
  globalThis.gc?.()
}
